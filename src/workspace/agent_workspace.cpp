#include "workspace/agent_workspace.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

#include "workspace/directory_listing.hpp"
#include "workspace/path_errors.hpp"

namespace skerry::workspace {
namespace {

constexpr std::size_t kMaxPage = 10'000;

EntryKind KindOf(const Facts& facts) {
  if (IsFile(facts)) return EntryKind::kFile;
  if (IsDirectory(facts)) return EntryKind::kDirectory;
  return IsLink(facts) ? EntryKind::kLink : EntryKind::kOther;
}

core::TimePoint TimeOf(const Facts& facts) {
  const auto since = std::chrono::seconds(facts.stx_mtime.tv_sec) + std::chrono::nanoseconds(facts.stx_mtime.tv_nsec);
  return core::TimePoint(std::chrono::duration_cast<core::TimePoint::duration>(since));
}

// The entry `name` of a directory, or with "" the open file or directory itself. False when it has vanished meanwhile.
bool Fill(int directory, const std::string& name, Entry& entry) {
  Facts facts{};
  if (!FactsAt(directory, name.c_str(), facts)) return false;
  entry.kind = KindOf(facts);
  entry.size = IsFile(facts) ? facts.stx_size : 0;
  entry.mode = facts.stx_mode & ALLPERMS;
  entry.changed_at = TimeOf(facts);
  if (!IsLink(facts)) return true;
  std::array<char, PATH_MAX> target{};
  const ssize_t size = ::readlinkat(directory, name.c_str(), target.data(), target.size());
  if (size < 0) return false;
  entry.target.assign(target.data(), static_cast<std::size_t>(size));
  return true;
}

}  // namespace

std::string_view NameOf(EntryKind kind) {
  switch (kind) {
    case EntryKind::kFile:
      return "file";
    case EntryKind::kDirectory:
      return "directory";
    case EntryKind::kLink:
      return "link";
    case EntryKind::kOther:
      return "other";
  }
  return "other";
}

AgentWorkspace::AgentWorkspace(base::UniqueFd root, base::UniqueFd stage, const WorkspaceOptions& options)
    : options_(options),
      resolver_(std::move(root), options.way),
      stage_(std::move(stage)),
      usage_(std::make_shared<UsageCount>(
          resolver_.root(), Usage{.bytes = options.max_bytes, .entries = options.max_entries}, options.room)),
      order_(std::make_shared<std::mutex>()) {}

AgentWorkspace::~AgentWorkspace() = default;

std::uint64_t AgentWorkspace::HashBudget() const {
  constexpr std::uint64_t kTimes = 4;  // larger than the quota, since honest files have holes too
  return options_.max_bytes > UINT64_MAX / kTimes ? UINT64_MAX : options_.max_bytes * kTimes;
}

base::Result<Entry> AgentWorkspace::Stat(std::string_view path) const {
  auto mapped = MapPath(path);
  if (!mapped) return std::unexpected(Named(path, std::move(mapped).error()));
  const auto fd = resolver_.Open(*mapped, O_PATH | O_NOFOLLOW);
  if (!fd) return std::unexpected(Named(path, fd.error()));
  Entry entry{.path = std::move(*mapped)};
  if (!Fill(fd->get(), "", entry)) return std::unexpected(Named(path, PathError(errno)));
  return entry;
}

base::Result<Listing> AgentWorkspace::List(std::string_view path, const ListOptions& options) const {
  auto mapped = MapPath(path);
  if (!mapped) return std::unexpected(Named(path, std::move(mapped).error()));
  auto fd = resolver_.Open(*mapped, O_RDONLY | O_DIRECTORY);
  if (!fd && fd.error().code == base::Code::kNotFound && resolver_.Open(*mapped, O_PATH))
    return NamedErr(path, base::Code::kConflict, "is no directory");
  if (!fd) return std::unexpected(Named(path, std::move(fd).error()));
  const base::UniqueFd directory(::fcntl(fd->get(), F_DUPFD_CLOEXEC, 0));
  if (!directory.valid()) return std::unexpected(Named(path, PathError(errno)));
  auto page = PageOf(std::move(*fd), options.after, std::clamp<std::size_t>(options.limit, 1, kMaxPage));
  if (!page) return std::unexpected(Named(path, std::move(page).error()));
  Listing listing;
  for (const std::string& name : page->names) {
    Entry entry{.path = JoinPath(*mapped, name)};
    if (Fill(directory.get(), name, entry)) listing.entries.push_back(std::move(entry));
  }
  if (page->more) listing.next = page->names.back();
  return listing;
}

base::Result<Usage> AgentWorkspace::CurrentUsage() const {
  return usage_->Current();
}

void AgentWorkspace::Recount() {
  usage_->Forget();
}

}  // namespace skerry::workspace
