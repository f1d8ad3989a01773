#include "workspace/change_diff.hpp"

#include <sys/stat.h>

#include <map>
#include <optional>

#include "base/printable.hpp"
#include "os/files.hpp"
#include "text/unified_diff.hpp"
#include "workspace/beneath.hpp"
#include "workspace/entry_digest.hpp"

namespace skerry::workspace {
namespace {

// A larger file is shown by its size and hash only; after this much diff files are only named.
constexpr std::size_t kMaxShownFile = std::size_t{1} << 20U;
constexpr std::size_t kMaxDiff = std::size_t{8} << 20U;

// One side of a file, which owns what text::FileDiff borrows.
struct Side {
  std::string bytes;
  std::string sha256;
  unsigned mode = 0;
  std::uint64_t size = 0;
};

std::optional<Side> SideOf(int root, const std::string& path) {
  const auto place = FindPlace(root, path);
  if (!place || !place->entry || place->HoldsDirectory()) return std::nullopt;
  Side side{.mode = place->entry->st_mode, .size = static_cast<std::uint64_t>(place->entry->st_size)};
  side.sha256 = DigestOfEntry(*place).value_or("");
  if (place->HoldsLink()) {
    side.bytes = os::ReadLink(place->parent.get(), place->name).value_or("");
  } else if (side.size <= kMaxShownFile) {
    if (const auto fd = OpenFileBeneath(place->parent.get(), place->name, Locked::kUnlock))
      side.bytes = os::ReadAll(fd->get(), kMaxShownFile).value_or("");
  }
  return side;
}

std::optional<text::DiffSide> Borrow(const std::optional<Side>& side) {
  if (!side) return std::nullopt;
  text::DiffSide borrowed{.bytes = side->bytes, .sha256 = side->sha256, .mode = side->mode};
  if (side->bytes.size() < side->size) borrowed.size = side->size;
  return borrowed;
}

class Collector {
 public:
  void Add(const std::string& path, const std::optional<Side>& before, const std::optional<Side>& after) {
    if (text_.size() > kMaxDiff) {
      ++left_out_;
      return;
    }
    text_ += text::FileDiff(path, Borrow(before), Borrow(after));
  }

  std::string Finish() {
    if (left_out_ > 0) text_ += "… and " + std::to_string(left_out_) + " more files that are not shown\n";
    return std::move(text_);
  }

 private:
  std::string text_;
  std::size_t left_out_ = 0;
};

}  // namespace

std::string DiffOfLayers(const CommitReport& report, int upper, int lower) {
  std::map<std::string, bool> goes;  // whether the file is gone after the commit
  for (const std::string& path : report.deleted) goes[path] = true;
  for (const std::string& path : report.created) goes[path] = false;
  for (const std::string& path : report.changed) goes[path] = false;
  Collector collector;
  for (const auto& [path, gone] : goes)
    collector.Add(path, SideOf(lower, path), gone ? std::nullopt : SideOf(upper, path));
  return collector.Finish();
}

std::string DiffOfJournal(const Journal& journal, int directory, int root) {
  std::map<std::string, std::optional<std::uint64_t>> kept;  // the first kept content of each path
  for (const JournalRecord& record : journal.records) {
    using Kind = JournalRecord::Kind;
    if (record.kind == Kind::kMade) kept.try_emplace(record.path, std::nullopt);
    if (record.kind == Kind::kReplaced || record.kind == Kind::kRemoved) kept.try_emplace(record.path, record.kept);
  }
  Collector collector;
  for (const auto& [path, number] : kept)
    collector.Add(path, number ? SideOf(directory, KeptEntry(*number)) : std::nullopt, SideOf(root, path));
  return collector.Finish();
}

}  // namespace skerry::workspace
