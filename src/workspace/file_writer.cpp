// Writing: a file is prepared out of sight, and moved into its place in one step.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "base/sha256.hpp"
#include "workspace/agent_workspace.hpp"
#include "workspace/content.hpp"
#include "workspace/destination.hpp"
#include "workspace/path_errors.hpp"
#include "workspace/reservation.hpp"
#include "workspace/staged_entry.hpp"

namespace skerry::workspace {
namespace {

constexpr mode_t kFileMode = 0644;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kChunk = std::uint64_t{1} << 20U;

// The room that a file of so many bytes takes on most disks.
std::uint64_t RoundedUp(std::uint64_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

// Why there can be no file at the place.
base::Status CheckPlace(const Place& place, Existing existing) {
  if (!place.entry) return {};
  if (place.HoldsDirectory()) return PathErr(EISDIR);
  if (existing == Existing::kKeep) return PathErr(EEXIST);
  if (!place.HoldsFile() && !place.HoldsLink()) return base::Err(base::Code::kConflict, "is no regular file");
  return {};
}

mode_t ModeFor(const Place& place, const std::optional<std::uint32_t>& wanted) {
  const mode_t present = place.HoldsFile() ? place.entry->st_mode : kFileMode;
  return wanted.value_or(present) & ACCESSPERMS;
}

base::Status CheckExpected(const Place& place, const MountBorder& border, const std::string& expected,
                           std::uint64_t limit) {
  constexpr const char* kOther = "is not as expected: somebody changed it meanwhile; read it again";
  const auto fd = OpenFileIn(place.parent.get(), place.name, border, O_RDONLY);
  if (!fd && fd.error().code == base::Code::kNotFound)
    return base::Err(base::Code::kConflict, "is not there any more, and was expected to be");
  if (!fd) return std::unexpected(fd.error());
  SKERRY_ASSIGN_OR_RETURN(const Content content, ContentOf(fd->get(), limit));
  if (content.sha256 != expected) return base::Err(base::Code::kConflict, kOther);
  return {};
}

}  // namespace

struct FileWriter::State {
  std::string given;  // the path as the caller gave it, for errors
  WriteOptions options;
  std::uint64_t hash_limit;
  const Resolver* resolver;
  std::shared_ptr<std::mutex> order;
  Destination destination;
  Reservation reservation;
  std::uint64_t credit;  // the room of the replaced file, which need not be reserved again
  StagedEntry staged;
  base::Sha256 hash = base::Sha256();
  std::uint64_t written = 0;
  std::optional<base::Error> failure = std::nullopt;

  base::Status Write(std::string_view bytes);
  base::Status Grow(std::uint64_t size);
  base::Status MakeDurable();
  base::Result<core::FileChange> TakePlace();
  base::Status SettleUsage(const std::optional<Facts>& present, std::size_t made_parents);
};

base::Status FileWriter::State::Grow(std::uint64_t size) {
  const std::uint64_t held = reservation.held().bytes + credit;
  const std::uint64_t needed = RoundedUp(size);
  if (needed <= held) return {};
  // Reserved in chunks, so that many small writes ask seldom.
  if (size > kChunk && reservation.Add({.bytes = std::max(needed - held, kChunk), .entries = 0})) return {};
  return reservation.Add({.bytes = needed - held, .entries = 0});
}

base::Status FileWriter::State::Write(std::string_view bytes) {
  SKERRY_RETURN_IF_ERROR(reservation.AskDisk(bytes.size()));
  SKERRY_RETURN_IF_ERROR(Grow(written + bytes.size()));
  hash.Update(bytes);
  while (!bytes.empty()) {
    const ssize_t count = ::write(staged.fd(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return PathErr();
    bytes.remove_prefix(static_cast<std::size_t>(count));
    written += static_cast<std::uint64_t>(count);
  }
  return {};
}

base::Status FileWriter::State::MakeDurable() {
  const Place& place = destination.place();
  // Owner first: until the owner is right no other user may read the file.
  SKERRY_RETURN_IF_ERROR(staged.GiveToOwnerOf(place));
  if (::fchmod(staged.fd(), ModeFor(place, options.mode)) < 0) return PathErr();
  if (::fsync(staged.fd()) < 0) return PathErr();
  return {};
}

// Replaces the reservation by the real use: the new file is added, and the old one is free when this was its only name.
base::Status FileWriter::State::SettleUsage(const std::optional<Facts>& present, std::size_t made_parents) {
  Facts made{};
  if (!FactsAt(staged.fd(), "", made)) return PathErr();
  const std::uint64_t freed = present && present->stx_nlink == 1 ? BytesOnDisk(*present) : 0;
  return reservation.Settle({.bytes = BytesOnDisk(made), .entries = made_parents + 1},
                            {.bytes = freed, .entries = present ? 1U : 0U});
}

base::Result<core::FileChange> FileWriter::State::TakePlace() {
  const std::scoped_lock lock(*order);
  SKERRY_ASSIGN_OR_RETURN(MadeParents parents, destination.MakeParents(*resolver));
  const Place& place = destination.place();
  SKERRY_RETURN_IF_ERROR(CheckPlace(place, options.existing));
  if (options.expected_sha256)
    SKERRY_RETURN_IF_ERROR(CheckExpected(place, resolver->border(), *options.expected_sha256, hash_limit));
  std::optional<Facts> present;
  if (Facts facts{}; FactsAt(place.parent.get(), place.name.c_str(), facts)) present = facts;
  SKERRY_RETURN_IF_ERROR(SettleUsage(present, parents.count()));
  SKERRY_RETURN_IF_ERROR(staged.MoveTo(place, options.existing));
  reservation.Keep();
  parents.Keep();
  SKERRY_RETURN_IF_ERROR(SyncDirectory(place.parent.get()));
  struct stat facts{};
  if (::fstat(staged.fd(), &facts) < 0) return PathErr();
  return core::FileChange{.path = destination.path(),
                          .action = present ? core::FileAction::kChanged : core::FileAction::kCreated,
                          .kind = core::FileKind::kFile,
                          .size = written,
                          .mode = facts.st_mode & ACCESSPERMS,
                          .sha256 = hash.FinishHex()};
}

FileWriter::FileWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileWriter::FileWriter(FileWriter&&) noexcept = default;
FileWriter::~FileWriter() = default;

base::Status FileWriter::Write(std::string_view bytes) {
  if (state_->failure) return std::unexpected(*state_->failure);
  auto status = Named(state_->given, state_->Write(bytes));
  if (!status) state_->failure = status.error();
  return status;
}

base::Result<core::FileChange> FileWriter::Finish() {
  if (state_->failure) return std::unexpected(*state_->failure);
  SKERRY_RETURN_IF_ERROR(Named(state_->given, state_->MakeDurable()));
  return Named(state_->given, state_->TakePlace());
}

base::Result<FileWriter> AgentWorkspace::BeginWrite(std::string_view path, const WriteOptions& options) {
  const auto begin = [&]() -> base::Result<FileWriter> {
    SKERRY_ASSIGN_OR_RETURN(const std::string mapped, MapPath(path));
    if (mapped.empty()) return PathErr(EISDIR);
    SKERRY_ASSIGN_OR_RETURN(Destination destination,
                            Destination::Find(resolver_, mapped, Resolver::LastLink::kFollow, options.parents));
    SKERRY_RETURN_IF_ERROR(CheckPlace(destination.place(), options.existing));
    const auto& entry = destination.place().entry;
    const std::uint64_t credit = entry && entry->st_nlink == 1 ? static_cast<std::uint64_t>(entry->st_blocks) * 512 : 0;
    Reservation reservation(usage_);
    SKERRY_RETURN_IF_ERROR(reservation.Add({.bytes = 0, .entries = destination.missing() + (entry ? 0U : 1U)}));
    SKERRY_ASSIGN_OR_RETURN(StagedEntry staged, StagedEntry::File(StageFor(destination.place())));
    return FileWriter(std::make_unique<FileWriter::State>(FileWriter::State{.given = std::string(path),
                                                                            .options = options,
                                                                            .hash_limit = HashBudget(),
                                                                            .resolver = &resolver_,
                                                                            .order = order_,
                                                                            .destination = std::move(destination),
                                                                            .reservation = std::move(reservation),
                                                                            .credit = credit,
                                                                            .staged = std::move(staged)}));
  };
  return Named(path, begin());
}

base::Result<core::FileChange> AgentWorkspace::Write(std::string_view path, std::string_view bytes,
                                                     const WriteOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(FileWriter writer, BeginWrite(path, options));
  SKERRY_RETURN_IF_ERROR(writer.Write(bytes));
  return writer.Finish();
}

}  // namespace skerry::workspace
