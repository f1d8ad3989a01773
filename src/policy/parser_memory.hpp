// The memory of one run of the parser, and its end: what takes more than it may is left at once. The parser can be
// asked to stop between two steps only, and some of its steps cost memory and time that grow with the square of the
// text.
#pragma once

#include <array>
#include <csetjmp>
#include <cstddef>
#include <vector>

namespace skerry::policy {

// While it lives, the parser's memory in this thread comes from here; then all of it is gone, so nothing of the parser
// may be used or deleted afterwards.
class ParserMemory {
 public:
  explicit ParserMemory(std::size_t limit);
  ParserMemory(const ParserMemory&) = delete;
  ParserMemory& operator=(const ParserMemory&) = delete;
  ~ParserMemory();

  // Of this thread; nullptr when there is none.
  [[nodiscard]] static ParserMemory* Current() { return current_; }

  // Where to go when a limit is passed: the caller does `if (setjmp(memory.way_out())) return …` in a function whose
  // locals need no destructor, calls the parser from there, and then Open().
  [[nodiscard]] std::jmp_buf& way_out() { return way_out_; }
  // From now on there is no limit: nothing leaves by the way out any more.
  void Open() { limited_ = false; }

  void* Allocate(std::size_t bytes);
  void* Reallocate(void* block, std::size_t bytes);
  void Free(void* block);

  // The same for the scanner of the grammar, which has far fewer blocks; zeroed and not limited.
  void* AllocateForScanner(std::size_t bytes);
  void* ReallocateForScanner(void* block, std::size_t bytes);
  void FreeOfScanner(void* block);

 private:
  struct Header;
  static constexpr std::size_t kClasses = 65;  // of 16 bytes each; larger blocks are each their own

  [[noreturn]] void Leave() { std::longjmp(way_out_, 1); }
  void Count(std::size_t bytes);
  void* Large(std::size_t bytes);
  void* AddBlock(std::size_t bytes);
  void RemoveBlock(void* block);

  static constinit thread_local ParserMemory* current_;

  std::size_t limit_;
  std::size_t used_ = 0;
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
