#include "policy/parser_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include <tree_sitter/api.h>

namespace skerry::policy {
namespace {

constexpr std::size_t kStep = 16;
constexpr std::size_t kChunk = std::size_t{256} << 10U;
constexpr std::uint64_t kBetweenLooks = std::uint64_t{1} << 20U;

// The size of the head of one of the parser's arrays. The parser allocates such a block for each error that it recovers
// from: the summary of the states that it could go back to. It then searches its tables, which shows neither in memory
// nor in what is read.
constexpr std::size_t kSummary = 16;

// The size of a node of the parser's stack. The parser walks these nodes by recursion, so their number bounds its
// depth: as many as fit into a thread's stack, also with the larger frames of a sanitizer. Ordinary code needs some
// hundreds.
constexpr std::size_t kStackNode = 232;
constexpr std::size_t kMostStackNodes = 32'768;
constexpr std::size_t kStackNodeClass = (kStackNode + kStep - 1) / kStep;

// A few chunks are kept: allocating them anew costs more than parsing a short text. Thread-safe.
class SpareChunks {
 public:
  SpareChunks() = default;
  SpareChunks(const SpareChunks&) = delete;
  SpareChunks& operator=(const SpareChunks&) = delete;
  ~SpareChunks() {
    for (void* chunk : chunks_) std::free(chunk);
  }
  void* Take() {
    const std::scoped_lock lock(mutex_);
    if (chunks_.empty()) return std::malloc(kChunk);
    void* chunk = chunks_.back();
    chunks_.pop_back();
    return chunk;
  }
  void Give(void* chunk) {
    const std::scoped_lock lock(mutex_);
    if (chunks_.size() < kMostKept) return chunks_.push_back(chunk);
    std::free(chunk);
  }

 private:
  static constexpr std::size_t kMostKept = 16;
  std::mutex mutex_;
  std::vector<void*> chunks_;
};

SpareChunks& Spare() {
  static SpareChunks spare;
  return spare;
}

void* OrAbort(void* block) {
  if (block == nullptr) std::abort();
  return block;
}

void* AllocateHere(std::size_t bytes) {
  ParserMemory* current = ParserMemory::Current();
  return current != nullptr ? current->Allocate(bytes) : OrAbort(std::malloc(bytes));
}

void* AllocateZeroed(std::size_t count, std::size_t size) {
  void* block = AllocateHere(count * size);
  std::memset(block, 0, count * size);
  return block;
}

void* ReallocateHere(void* block, std::size_t bytes) {
  ParserMemory* current = ParserMemory::Current();
  return current != nullptr ? current->Reallocate(block, bytes) : OrAbort(std::realloc(block, bytes));
}

void FreeHere(void* block) {
  ParserMemory* current = ParserMemory::Current();
  current != nullptr ? current->Free(block) : std::free(block);
}

}  // namespace

// Stands in front of a large block. Right before a block of any size stands its capacity.
struct alignas(16) ParserMemory::Header {
  Header* before;
  Header* after;
  std::size_t unused;
  std::size_t bytes;
};

namespace {

constexpr std::size_t kSmallHeader = 16;

std::size_t CapacityOf(const void* block) {
  std::size_t bytes = 0;
  std::memcpy(&bytes, static_cast<const char*>(block) - sizeof bytes, sizeof bytes);
  return bytes;
}

}  // namespace

constinit thread_local ParserMemory* ParserMemory::current_ = nullptr;

ParserMemory::ParserMemory(ParserLimits limits) : limits_(std::move(limits)) {
  static std::once_flag once;
  std::call_once(once, [] { ts_set_allocator(AllocateHere, AllocateZeroed, ReallocateHere, FreeHere); });
  current_ = this;
}

ParserMemory::~ParserMemory() {
  current_ = nullptr;
  for (void* chunk : chunks_) Spare().Give(chunk);
  while (large_ != nullptr) std::free(std::exchange(large_, large_->after));
}

void ParserMemory::Look() {
  if (limited_ && (work_ > limits_.work || limits_.cancelled.stop_requested())) Leave();
  look_at_ = limited_ ? std::min(limits_.work, work_ + kBetweenLooks) : ~std::uint64_t{0};
}

void ParserMemory::Count(std::size_t bytes) {
  used_ += bytes;
  peak_ = std::max(peak_, used_);
  if (used_ > limits_.memory && limited_) Leave();
}

// A block of its own, so that the sanitizers see its ends.
void* ParserMemory::AddBlock(std::size_t bytes) {
  auto* header = static_cast<Header*>(OrAbort(std::malloc(sizeof(Header) + bytes)));
  *header = {.before = nullptr, .after = large_, .unused = 0, .bytes = bytes};
  if (large_ != nullptr) large_->before = header;
  large_ = header;
  return header + 1;
}

void ParserMemory::RemoveBlock(void* block) {
  Header* header = static_cast<Header*>(block) - 1;
  (header->before != nullptr ? header->before->after : large_) = header->after;
  if (header->after != nullptr) header->after->before = header->before;
  std::free(header);
}

void* ParserMemory::Large(std::size_t bytes) {
  Count(bytes);
  return AddBlock(bytes);
}

void* ParserMemory::Allocate(std::size_t bytes) {
  Spend(bytes == kSummary ? kWorkOfARecovery : bytes);
  if (bytes == kSummary && limits_.on_error == OnError::kLeave && limited_) Leave();
  const std::size_t size_class = std::max<std::size_t>((bytes + kStep - 1) / kStep, 1);
  if (size_class >= kClasses) return Large(bytes);
  if (size_class == kStackNodeClass && ++stack_nodes_ > kMostStackNodes && limited_) Leave();
  void*& first = free_.at(size_class);
  if (first != nullptr) {
    void* block = first;
    std::memcpy(static_cast<void*>(&first), block, sizeof first);
    return block;
  }
  const std::size_t whole = kSmallHeader + size_class * kStep;
  if (next_ == nullptr || next_ + whole > end_) {
    Count(kChunk);
    next_ = static_cast<char*>(OrAbort(Spare().Take()));
    end_ = next_ + kChunk;
    chunks_.push_back(next_);
  }
  char* block = std::exchange(next_, next_ + whole) + kSmallHeader;
  const std::size_t capacity = whole - kSmallHeader;
  std::memcpy(block - sizeof(std::size_t), &capacity, sizeof capacity);
  return block;
}

void ParserMemory::Free(void* block) {
  if (block == nullptr) return;
  const std::size_t capacity = CapacityOf(block);
  if (capacity <= (kClasses - 1) * kStep) {
    if (capacity == kStackNodeClass * kStep) --stack_nodes_;
    void*& first = free_.at(capacity / kStep);
    std::memcpy(block, static_cast<const void*>(&first), sizeof first);
    first = block;
    return;
  }
  used_ -= capacity;
  RemoveBlock(block);
}

void* ParserMemory::Reallocate(void* block, std::size_t bytes) {
  if (block == nullptr) return Allocate(bytes);
  const std::size_t capacity = CapacityOf(block);
  if (bytes <= capacity) return block;
  void* larger = Allocate(bytes);
  std::memcpy(larger, block, capacity);
  Free(block);
  return larger;
}

void* ParserMemory::AllocateForScanner(std::size_t bytes) {
  Spend(bytes);
  void* block = AddBlock(bytes);
  std::memset(block, 0, bytes);
  scanner_bytes_ += bytes;
  return block;
}

void* ParserMemory::ReallocateForScanner(void* block, std::size_t bytes) {
  void* other = AllocateForScanner(bytes);
  if (block == nullptr) return other;
  std::memcpy(other, block, std::min(bytes, CapacityOf(block)));
  FreeOfScanner(block);
  return other;
}

void ParserMemory::FreeOfScanner(void* block) {
  if (block == nullptr) return;
  scanner_bytes_ -= CapacityOf(block);
  RemoveBlock(block);
}

}  // namespace skerry::policy

// Declared for the scanners in third_party/tree-sitter/scanner_memory.h. A scanner lives within a run of the parser.
extern "C" {

void* skerry_scanner_allocate(std::size_t count, std::size_t size) {
  return skerry::policy::ParserMemory::Current()->AllocateForScanner(count * size);
}

void* skerry_scanner_reallocate(void* block, std::size_t bytes) {
  return skerry::policy::ParserMemory::Current()->ReallocateForScanner(block, bytes);
}

void skerry_scanner_free(void* block) {
  skerry::policy::ParserMemory::Current()->FreeOfScanner(block);
}
}
