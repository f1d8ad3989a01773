#include "workspace/archive_names.hpp"

#include "archive/entry_path.hpp"
#include "workspace/tree_walk.hpp"

namespace skerry::workspace {
namespace {

using archive::EntryKind;

constexpr std::size_t kMaxNameBytes = std::size_t{64} << 20U;

std::unexpected<base::Error> Refused(std::string_view path, const std::string& why,
                                     base::Code code = base::Code::kInvalidArgument) {
  return base::Err(code, "the archive is refused: " + archive::QuotedPath(path) + " " + why);
}

}  // namespace

base::Status ArchiveNames::Put(const std::string& path, const Thing& thing) {
  name_bytes_ += path.size();
  if (names_.size() >= max_entries_ || name_bytes_ > kMaxNameBytes)
    return base::Err(base::Code::kTooLarge, "the archive is refused: it makes more than " +
                                                std::to_string(max_entries_) + " files and directories");
  if (thing.size > max_bytes_ - bytes_)
    return base::Err(base::Code::kTooLarge,
                     "the archive is refused: it unpacks to more than " + std::to_string(max_bytes_) + " bytes");
  bytes_ += thing.size;
  names_.emplace(path, thing);
  return {};
}

base::Status ArchiveNames::AddParents(const std::string& path) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string parent = path.substr(0, slash);
    const auto known = names_.find(parent);
    if (known == names_.end()) {
      SKERRY_RETURN_IF_ERROR(Put(parent, {}));
    } else if (known->second.kind == EntryKind::kSymbolicLink) {
      return Refused(path, "would be written through a link of the archive", base::Code::kPathTraversal);
    } else if (known->second.kind != EntryKind::kDirectory) {
      return Refused(path, "lies below a file of the archive");
    }
  }
  return {};
}

base::Status ArchiveNames::Add(const archive::ArchiveEntry& entry) {
  if (entry.kind == EntryKind::kSpecial) return Refused(entry.path, "is a device or a fifo");
  if (entry.path.empty() && entry.kind == EntryKind::kDirectory) return {};
  if (entry.path.empty()) return Refused(".", "is the top of the archive and no directory");
  for (std::size_t at = 0; at != std::string::npos;) {
    const std::size_t slash = entry.path.find('/', at);
    if (IsPrivateName(std::string_view(entry.path).substr(at, slash - at)))
      return Refused(entry.path, "has a name that Skerry uses itself");
    at = slash == std::string::npos ? slash : slash + 1;
  }
  SKERRY_RETURN_IF_ERROR(AddParents(entry.path));
  const auto known = names_.find(entry.path);
  const bool directories =
      entry.kind == EntryKind::kDirectory && known != names_.end() && known->second.kind == EntryKind::kDirectory;
  if (directories) return {};
  if (known != names_.end()) return Refused(entry.path, "is there twice");
  if (entry.kind != EntryKind::kHardLink) return Put(entry.path, {.kind = entry.kind, .size = entry.size});
  const auto target = names_.find(entry.link_target);
  if (target == names_.end() || target->second.kind != EntryKind::kFile)
    return Refused(entry.path, "is a hard link to " + archive::QuotedPath(entry.link_target) +
                                   ", which is no earlier file of the archive");
  return Put(entry.path, {.kind = EntryKind::kFile, .size = target->second.size});
}

std::uint64_t ArchiveNames::SizeOf(const std::string& path) const {
  const auto known = names_.find(path);
  return known == names_.end() ? 0 : known->second.size;
}

}  // namespace skerry::workspace
