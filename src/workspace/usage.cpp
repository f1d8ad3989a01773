#include "workspace/usage.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "workspace/tree_walk.hpp"

namespace skerry::workspace {
namespace {

constexpr std::uint64_t kBytesOfEntry = 4096;  // the room of an empty entry on the disk

class Counter : public TreeVisitor {
 public:
  base::Status Visit(const TreeEntry& entry) override {
    usage_.bytes += BytesOnDisk(entry.facts);
    ++usage_.entries;
    return {};
  }
  base::Status Enter(const TreeEntry&) override {
    ++usage_.entries;
    return {};
  }
  [[nodiscard]] Usage usage() const { return usage_; }

 private:
  Usage usage_;
};

std::uint64_t Sum(std::uint64_t left, std::uint64_t right) {
  return left > std::numeric_limits<std::uint64_t>::max() - right ? std::numeric_limits<std::uint64_t>::max()
                                                                  : left + right;
}

base::Status TooMuch(std::string_view what, std::uint64_t wanted, std::uint64_t limit) {
  return base::Err(base::Code::kTooLarge, "the workspace would hold " + std::to_string(wanted) + " " +
                                              std::string(what) + ", and " + std::to_string(limit) +
                                              " is the most; delete something first");
}

}  // namespace

base::Result<Usage> CountUsage(int root) {
  Counter counter;
  // A directory that a program locked must not keep everybody from writing.
  const WalkOptions options{.locked = WalkOptions::Obstacle::kPass,
                            .mounts = WalkOptions::Obstacle::kPass,
                            .private_names = WalkOptions::Private::kShow};
  SKERRY_RETURN_IF_ERROR(WalkTree(root, counter, options));
  return counter.usage();
}

base::Status UsageCount::AskDisk(std::uint64_t bytes) const {
  return room_ && bytes > 0 ? room_(bytes) : base::Status{};
}

base::Status UsageCount::Reserve(Usage more) {
  SKERRY_RETURN_IF_ERROR(AskDisk(Sum(more.bytes, more.entries * kBytesOfEntry)));
  const std::scoped_lock lock(mutex_);
  SKERRY_RETURN_IF_ERROR(CountOnce());
  const Usage wanted{Sum(counted_->bytes, more.bytes), Sum(counted_->entries, more.entries)};
  if (more.bytes > 0 && wanted.bytes > limit_.bytes) return TooMuch("bytes", wanted.bytes, limit_.bytes);
  if (more.entries > 0 && wanted.entries > limit_.entries) return TooMuch("files", wanted.entries, limit_.entries);
  counted_ = wanted;
  return {};
}

void UsageCount::GiveBack(Usage less) {
  const std::scoped_lock lock(mutex_);
  if (!counted_) return;
  counted_->bytes -= std::min(counted_->bytes, less.bytes);
  counted_->entries -= std::min(counted_->entries, less.entries);
}

base::Result<Usage> UsageCount::Current() {
  const std::scoped_lock lock(mutex_);
  SKERRY_RETURN_IF_ERROR(CountOnce());
  return *counted_;
}

void UsageCount::Forget() {
  const std::scoped_lock lock(mutex_);
  counted_.reset();
}

base::Status UsageCount::CountOnce() {
  if (counted_) return {};
  // A directory that was moved during the count is counted again at its new place.
  constexpr int kTries = 3;
  base::Result<Usage> usage;
  for (int tries = 0; tries < kTries; ++tries) {
    usage = CountUsage(root_);
    if (usage || usage.error().code != base::Code::kConflict) break;
  }
  if (!usage) return std::unexpected(std::move(usage).error());
  counted_ = *usage;
  return {};
}

}  // namespace skerry::workspace
