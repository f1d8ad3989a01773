#include "workspace/content.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <vector>

#include "base/sha256.hpp"
#include "os/files.hpp"
#include "workspace/beneath.hpp"
#include "workspace/path_errors.hpp"

namespace skerry::workspace {
namespace {

constexpr std::size_t kBlock = std::size_t{128} << 10U;

}  // namespace

base::Result<std::size_t> ReadInto(int fd, std::uint64_t offset, char* buffer, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    if (offset + done > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())) break;
    const ssize_t count = ::pread(fd, buffer + done, size - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return PathErr();
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

base::Result<Content> ContentOf(int fd, std::uint64_t limit, const std::stop_token& stop) {
  struct stat facts{};
  if (::fstat(fd, &facts) < 0) return PathErr();
  const auto expected = static_cast<std::uint64_t>(facts.st_size);
  std::vector<char> block(std::clamp<std::uint64_t>(expected + 1, 1, kBlock));
  base::Sha256 hash;
  Content content;
  for (;;) {
    if (stop.stop_requested()) return base::Err(base::Code::kUnavailable, "nobody waits for its content any more");
    if (std::max(content.size, expected) > limit)
      return base::Err(base::Code::kTooLarge,
                       "has " + std::to_string(std::max(content.size, expected)) + " bytes, too many to be read here");
    SKERRY_ASSIGN_OR_RETURN(const std::size_t count, ReadInto(fd, content.size, block.data(), block.size()));
    hash.Update({block.data(), count});
    content.size += count;
    if (count < block.size()) break;
  }
  content.sha256 = hash.FinishHex();
  return content;
}

base::Result<std::optional<core::FileChange>> Describe(int directory, const std::string& name,
                                                       const MountBorder& border, std::uint64_t& budget) {
  Facts facts{};
  if (!FactsAt(directory, name.c_str(), facts)) return PathErr();
  core::FileChange change{.mode = PermissionsOf(facts)};
  if (IsLink(facts)) {
    SKERRY_ASSIGN_OR_RETURN(const std::string target, os::ReadLink(directory, name));
    change.kind = core::FileKind::kLink;
    change.size = target.size();
    change.sha256 = base::Sha256Hex(target);
    return change;
  }
  if (!IsFile(facts)) return std::nullopt;
  auto fd = OpenFileIn(directory, name, border, O_RDONLY);
  // A file that its owner locked is read all the same.
  if (!fd && fd.error().code == base::Code::kPermissionDenied) fd = OpenFileBeneath(directory, name, Locked::kUnlock);
  if (!fd) return std::unexpected(fd.error());
  SKERRY_ASSIGN_OR_RETURN(Content content, ContentOf(fd->get(), budget));
  budget -= content.size;
  change.size = content.size;
  change.sha256 = std::move(content.sha256);
  return change;
}

}  // namespace skerry::workspace
