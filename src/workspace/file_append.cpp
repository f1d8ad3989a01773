// Appending: in place, since a log may be long; by a copy when the file has other names.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mutex>
#include <utility>
#include <vector>

#include "workspace/agent_workspace.hpp"
#include "workspace/content.hpp"
#include "workspace/path_errors.hpp"
#include "workspace/reservation.hpp"
#include "workspace/staged_entry.hpp"

namespace skerry::workspace {
namespace {

// Takes back the bytes that were written last, unless another process wrote behind them: those must not be cut off.
void CutOff(int fd, std::uint64_t size) {
  struct stat facts{};
  const off_t end = ::lseek(fd, 0, SEEK_CUR);
  if (size > 0 && ::fstat(fd, &facts) == 0 && facts.st_size == end)
    (void)::ftruncate(fd, end - static_cast<off_t>(size));
}

// Writes all of the bytes at the end of the file and to disk, or none of them.
base::Status WriteAtEnd(int fd, std::string_view bytes) {
  std::uint64_t done = 0;
  int problem = 0;
  while (done < bytes.size() && problem == 0) {
    const ssize_t count = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (count >= 0) {
      done += static_cast<std::uint64_t>(count);
    } else if (errno != EINTR) {
      problem = errno;
    }
  }
  if (problem == 0 && ::fsync(fd) < 0) problem = errno;
  if (problem == 0) return {};
  CutOff(fd, done);
  return PathErr(problem);
}

}  // namespace

base::Result<core::FileChange> AgentWorkspace::Append(std::string_view path, std::string_view bytes) {
  // Another process may make the file, or give it another name, between the look at it and the write.
  constexpr int kTries = 3;
  auto change = AppendOnce(path, bytes);
  for (int tries = 1; tries < kTries && !change && change.error().code == base::Code::kConflict; ++tries)
    change = AppendOnce(path, bytes);
  return change;
}

base::Result<core::FileChange> AgentWorkspace::AppendOnce(std::string_view path, std::string_view bytes) {
  auto mapped = MapPath(path);
  if (!mapped) return std::unexpected(Named(path, std::move(mapped).error()));
  if (mapped->empty()) return std::unexpected(Named(path, PathError(EISDIR)));
  const auto located = resolver_.Locate(*mapped, Resolver::LastLink::kFollow);
  const bool missing = located ? !located->place.entry : located.error().code == base::Code::kNotFound;
  if (missing) return Write(path, bytes, {.existing = Existing::kKeep});
  if (!located) return std::unexpected(Named(path, located.error()));
  if (located->place.HoldsDirectory()) return std::unexpected(Named(path, PathError(EISDIR)));
  if (located->place.HoldsFile() && located->place.entry->st_nlink > 1)
    return AppendToCopy(path, located->place, bytes);
  return Named(path, AppendInPlace(*located, bytes));
}

base::Result<core::FileChange> AgentWorkspace::AppendInPlace(const Resolver::Located& located, std::string_view bytes) {
  const std::scoped_lock lock(*order_);
  const Place& place = located.place;
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd fd,
                          OpenFileIn(place.parent.get(), place.name, resolver_.border(), O_RDWR | O_APPEND));
  Facts before{};
  if (!FactsAt(fd.get(), "", before)) return PathErr();
  if (before.stx_nlink > 1) return base::Err(base::Code::kConflict, "got another name meanwhile; try again");
  if (before.stx_size > HashBudget())
    return base::Err(base::Code::kTooLarge, "has " + std::to_string(before.stx_size) + " bytes already");
  Reservation reservation(usage_);
  SKERRY_RETURN_IF_ERROR(reservation.Add({.bytes = bytes.size(), .entries = 0}));
  SKERRY_RETURN_IF_ERROR(WriteAtEnd(fd.get(), bytes));
  Facts after{};
  if (!FactsAt(fd.get(), "", after)) return PathErr();
  // The free part of the last block was counted already. The bytes are written, so a quota that is exceeded is no error
  // any more.
  (void)reservation.Settle({.bytes = BytesOnDisk(after), .entries = 0}, {.bytes = BytesOnDisk(before), .entries = 0});
  reservation.Keep();
  SKERRY_ASSIGN_OR_RETURN(Content content, ContentOf(fd.get(), HashBudget() + bytes.size()));
  return core::FileChange{.path = located.path,
                          .action = core::FileAction::kChanged,
                          .kind = core::FileKind::kFile,
                          .size = content.size,
                          .mode = PermissionsOf(after),
                          .sha256 = std::move(content.sha256)};
}

base::Result<core::FileChange> AgentWorkspace::AppendToCopy(std::string_view path, const Place& place,
                                                            std::string_view bytes) {
  auto from = OpenFileIn(place.parent.get(), place.name, resolver_.border(), O_RDONLY);
  if (!from) return std::unexpected(Named(path, std::move(from).error()));
  SKERRY_ASSIGN_OR_RETURN(FileWriter writer, BeginWrite(path, {.parents = Parents::kNeed}));
  constexpr std::size_t kBlock = std::size_t{128} << 10U;
  std::vector<char> block(kBlock);
  for (std::uint64_t at = 0;;) {
    const auto count = ReadInto(from->get(), at, block.data(), block.size());
    if (!count) return std::unexpected(Named(path, count.error()));
    if (*count == 0) break;
    SKERRY_RETURN_IF_ERROR(writer.Write({block.data(), *count}));
    at += *count;
  }
  SKERRY_RETURN_IF_ERROR(writer.Write(bytes));
  return writer.Finish();
}

}  // namespace skerry::workspace
