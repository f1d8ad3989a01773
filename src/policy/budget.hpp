// Budget: what one analysis may take in all, work and memory, the code in its code included. Every part of an analysis
// counts here what it does, and stops when it is told that nothing is left.
//
// Work is counted, never timed: the same code takes the same work on every machine, under every load and sanitizer. The
// unit is what it takes to allocate and use one byte, some nanoseconds; docs/design/0005 has what was measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string_view>
#include <utility>

namespace skerry::policy {

// What the parser takes is in parser_memory.hpp.
inline constexpr std::uint64_t kWorkOfANode = 12;     // that a walk over the tree comes to
inline constexpr std::uint64_t kWorkOfAStep = 1;      // from a node to the next sibling, or to the parent
inline constexpr std::uint64_t kWorkOfALookup = 16;   // of a name in a table
inline constexpr std::uint64_t kWorkOfAPiece = 4096;  // of code in code, whatever its length

// For a text that is searched or copied, and for one that is read or made character by character.
constexpr std::uint64_t WorkOfCopying(std::size_t bytes) {
  constexpr std::size_t kBytesPerWork = 16;
  return 1 + bytes / kBytesPerWork;
}
constexpr std::uint64_t WorkOfReading(std::size_t bytes) {
  return 1 + bytes;
}

struct BudgetLimits {
  std::uint64_t work;
  std::size_t memory;  // in bytes, at one time
};

// For one thread.
class Budget {
 public:
  // What code of so many bytes may take.
  [[nodiscard]] static BudgetLimits LimitsFor(std::size_t bytes);

  // A stop of `cancelled` ends the analysis as soon as the next thousands of units are counted.
  explicit Budget(BudgetLimits limits, std::stop_token cancelled = {});
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // Counts work. False when nothing is left: then the caller stops, and every later call gives false too.
  bool Spend(std::uint64_t work) {
    spent_ += work;
    return spent_ < look_at_ || Look();
  }
  [[nodiscard]] bool IsOver() const { return over_; }
  [[nodiscard]] bool IsCancelled() const { return stop_.stop_requested(); }

  [[nodiscard]] std::uint64_t spent() const { return spent_; }
  [[nodiscard]] std::uint64_t work_left() const { return over_ ? 0 : limits_.work - spent_; }
  [[nodiscard]] std::size_t memory_left() const { return held_ < limits_.memory ? limits_.memory - held_ : 0; }
  [[nodiscard]] std::size_t peak() const { return peak_; }
  [[nodiscard]] const std::stop_token& stop() const { return stop_; }

  // Opens the work that is kept for a last look at the letters of code that could not be analysed. Works once; false
  // when it was opened before.
  bool OpenReserve();

  // Counts memory that is in use from now on. More than the limit ends the analysis, as too much work does.
  void Hold(std::size_t bytes);
  void Release(std::size_t bytes) { held_ -= bytes; }
  // Counts memory that was in use for a moment, besides what is held.
  void NotePeak(std::size_t bytes);

 private:
  bool Look();
  void End();

  BudgetLimits limits_;
  std::stop_token stop_;
  std::uint64_t reserve_;
  std::uint64_t spent_ = 0;
  std::uint64_t look_at_ = 0;  // the work at which Spend looks whether the caller cancelled, or the limit is reached
  std::size_t held_ = 0;
  std::size_t peak_ = 0;
  bool over_ = false;
};

// Memory that is counted as in use as long as this object lives.
class HeldMemory {
 public:
  explicit HeldMemory(Budget& budget) : budget_(&budget) {}
  HeldMemory(HeldMemory&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  HeldMemory& operator=(HeldMemory&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;
  ~HeldMemory() {
    if (budget_ != nullptr) budget_->Release(bytes_);
  }

  void Add(std::size_t bytes) {
    bytes_ += bytes;
    budget_->Hold(bytes);
  }
  void Remove(std::size_t bytes) {
    bytes_ -= bytes;
    budget_->Release(bytes);
  }

 private:
  Budget* budget_;
  std::size_t bytes_ = 0;
};

}  // namespace skerry::policy
