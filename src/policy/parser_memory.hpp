// What one run of the parser may take, memory, work and depth, and how a run that takes more is left at once. The
// parser can be asked to stop between two steps only, and some of its steps cost memory and time that grow with the
// square of the text. Its work is counted in the unit of budget.hpp.
#pragma once

#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

namespace skerry::policy {

// The unit of work is what it takes to allocate and use one byte. These are other steps in that unit, measured on the
// worst texts that were found; see docs/design/0005.
inline constexpr std::uint64_t kWorkOfACharacter = 4;      // read by the lexer, every time it is
inline constexpr std::uint64_t kWorkOfSteps = 256;         // from one call of the progress function to the next
inline constexpr std::uint64_t kWorkOfARecovery = 10'240;  // from an error: the parser looks at every row of its tables
inline constexpr std::size_t kScannerBytesPerWork = 1024;  // that a scanner has, and goes through for every token

// What becomes of a text with an error.
enum class OnError : std::uint8_t {
  kRecover,
  kLeave,  // the tree would be of no use: parsing ends at the first error
};

struct ParserLimits {
  std::size_t memory;  // in bytes, at one time
  std::uint64_t work;
  OnError on_error = OnError::kRecover;
  std::stop_token cancelled;
};

// While this object lives, the parser's memory in this thread comes from it; its destructor frees all of that, so
// nothing of the parser may be used or deleted afterwards.
class ParserMemory {
 public:
  explicit ParserMemory(ParserLimits limits);
  ParserMemory(const ParserMemory&) = delete;
  ParserMemory& operator=(const ParserMemory&) = delete;
  ~ParserMemory();

  // The object of this thread; nullptr when there is none.
  [[nodiscard]] static ParserMemory* Current() { return current_; }

  // Where to go when a limit is passed: the caller does `if (setjmp(memory.way_out())) return …` in a function whose
  // locals need no destructor, calls the parser from there, and then Open().
  [[nodiscard]] std::jmp_buf& way_out() { return way_out_; }
  // From now on there is no limit: nothing leaves by the way out any more.
  void Open() { limited_ = false; }

  void* Allocate(std::size_t bytes);
  void* Reallocate(void* block, std::size_t bytes);
  void Free(void* block);

  // Allocates for the scanner of the grammar, which has far fewer blocks; zeroed. The scanner's memory is not limited,
  // but what it has makes every character more work.
  void* AllocateForScanner(std::size_t bytes);
  void* ReallocateForScanner(void* block, std::size_t bytes);
  void FreeOfScanner(void* block);

  // Count work that allocates nothing. Both may leave by the way out instead of returning.
  void SpendOnCharacter() { Spend(kWorkOfACharacter + scanner_bytes_ / kScannerBytesPerWork); }
  void SpendOnSteps() { Spend(kWorkOfSteps + kWorkOfSteps * scanner_bytes_ / kScannerBytesPerWork); }
  [[nodiscard]] std::uint64_t work() const { return work_; }
  [[nodiscard]] std::size_t peak() const { return peak_; }  // in bytes

 private:
  struct Header;
  static constexpr std::size_t kClasses = 65;  // of 16 bytes each; larger blocks are each their own

  [[noreturn]] void Leave() { std::longjmp(way_out_, 1); }
  void Spend(std::uint64_t work) {
    work_ += work;
    if (work_ > look_at_) Look();
  }
  void Look();
  void Count(std::size_t bytes);
  void* Large(std::size_t bytes);
  void* AddBlock(std::size_t bytes);
  void RemoveBlock(void* block);

  static constinit thread_local ParserMemory* current_;

  ParserLimits limits_;
  std::uint64_t look_at_ = 0;  // the work at which Spend looks whether to leave
  std::uint64_t work_ = 0;
  std::size_t used_ = 0;
  std::size_t peak_ = 0;
  std::size_t scanner_bytes_ = 0;
  std::size_t stack_nodes_ = 0;  // blocks of that size
  bool limited_ = true;
  std::jmp_buf way_out_{};
  char* next_ = nullptr;  // of the current chunk
  char* end_ = nullptr;
  std::vector<void*> chunks_;
  Header* large_ = nullptr;                // a list of all large blocks, and of the scanner's
  std::array<void*, kClasses> free_ = {};  // lists of blocks by size
};

}  // namespace skerry::policy
