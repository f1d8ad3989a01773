#include "watch/audit_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/deadline.hpp"
#include "os/errno_error.hpp"
#include "os/file_lock.hpp"
#include "os/own_directory.hpp"
#include "watch/audit_chain.hpp"
#include "watch/audit_files.hpp"
#include "watch/audit_tail.hpp"

namespace skerry::watch {
namespace {

using Json = nlohmann::ordered_json;

// Anything with the head's name that is no file of the audit is put aside.
base::Result<base::UniqueFd> OpenHead(int directory) {
  constexpr int kFlags = O_RDWR | O_CREAT;
  if (auto head = OpenAuditFile(directory, kHeadFile, kFlags)) return head;
  if (::renameat(directory, kHeadFile, directory, "head.odd") < 0) return os::ErrnoErr("put the odd head aside");
  return OpenAuditFile(directory, kHeadFile, kFlags);
}

base::Status CutTo(int fd, std::uint64_t size) {
  if (::ftruncate(fd, static_cast<off_t>(size)) < 0) return os::ErrnoErr("take half a record back");
  return {};
}

}  // namespace

struct AuditLog::State {
  AuditOptions options;
  base::UniqueFd directory;
  base::UniqueFd lock;
  base::UniqueFd head;
  base::UniqueFd file;
  std::uint64_t file_number = 0;
  std::mutex mutex;
  AuditHead last;
  std::uint64_t total = 0;              // size of all files
  std::optional<std::uint64_t> cut_to;  // behind this place there is half a record that could not be removed

  base::Result<std::uint64_t> Append(const std::string& event, const Json& details);
  base::Status ContinueWith(AuditTail tail);
  base::Status WriteHead(const AuditHead& now) const;

 private:
  base::Status NextFile();
  base::Result<std::uint64_t> RoomFor(std::size_t bytes);
  base::Status WriteLine(const AuditText& text, std::uint64_t number);
};

base::Status AuditLog::State::WriteHead(const AuditHead& now) const {
  const std::string text = HeadText(now);
  const ssize_t count = ::pwrite(head.get(), text.data(), text.size(), 0);
  if (count == static_cast<ssize_t>(text.size())) return {};
  return os::ErrnoErr("write the head of the audit", count < 0 ? errno : ENOSPC);
}

base::Status AuditLog::State::NextFile() {
  for (;;) {
    const std::string name = AuditFileName(file_number + 1);
    if (!AuditFileNumber(name)) return base::Err(base::Code::kUnavailable, "the audit has too many files");
    auto made = OpenAuditFile(directory.get(), name, O_RDWR | O_APPEND | O_CREAT | O_EXCL);
    if (!made && ::faccessat(directory.get(), name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) != 0)
      return std::unexpected(made.error());
    ++file_number;
    if (!made) continue;  // another file has that name
    file = std::move(*made);
    return {};
  }
}

// Opens a file to write to, and gives its size. A full file is written to all the same when no other can be made.
base::Result<std::uint64_t> AuditLog::State::RoomFor(std::size_t bytes) {
  struct stat facts{};
  const bool there = file.valid() && ::fstat(file.get(), &facts) == 0 && facts.st_nlink != 0;
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  if (there && (size == 0 || size + bytes <= options.max_file_bytes)) return size;
  const base::Status next = NextFile();
  if (next) return 0;
  if (there) return size;
  return std::unexpected(next.error());
}

base::Status AuditLog::State::WriteLine(const AuditText& text, std::uint64_t number) {
  SKERRY_ASSIGN_OR_RETURN(const std::uint64_t size, RoomFor(text.line.size()));
  ssize_t count = 0;
  do {
    count = ::write(file.get(), text.line.data(), text.line.size());
  } while (count < 0 && errno == EINTR);
  if (count < 0) return os::ErrnoErr("write");
  base::Status written;
  if (count != static_cast<ssize_t>(text.line.size())) written = os::ErrnoErr("write", ENOSPC);
  if (written) written = WriteHead({number, text.hash});
  if (written) return {};
  if (!CutTo(file.get(), size)) cut_to = size;
  return written;
}

base::Result<std::uint64_t> AuditLog::State::Append(const std::string& event, const Json& details) {
  const std::lock_guard guard(mutex);
  const auto refuse = [&](const std::string& why) {
    return base::Err(base::Code::kUnavailable, why + "; see to " + options.directory);
  };
  if (cut_to && !CutTo(file.get(), *cut_to)) return refuse("half a record cannot be taken back");
  cut_to.reset();
  const std::uint64_t number = last.number + 1;
  if (number >= kNumbersEnd) return refuse("the numbers of records are used up");
  const AuditText text = MakeAuditLine({number, std::chrono::system_clock::now(), event}, details, last.hash);
  if (const auto written = WriteLine(text, number); !written) return refuse(written.error().message);
  last = {number, text.hash};
  total += text.line.size();
  return text.line.size();
}

// The head is written only after the damage is recorded: when this process is killed meanwhile, the next one finds the
// damage again.
base::Status AuditLog::State::ContinueWith(AuditTail tail) {
  last = tail.last;
  file = std::move(tail.file);
  file_number = tail.file_number;
  if (!tail.damage.empty()) SKERRY_RETURN_IF_ERROR(Append("audit.damaged", {{"found", tail.damage}}));
  SKERRY_RETURN_IF_ERROR(WriteHead(last));
  SKERRY_RETURN_IF_ERROR(CutTo(head.get(), HeadText(last).size()));
  if (tail.torn_file.empty()) return {};
  SKERRY_RETURN_IF_ERROR(Append(
      "audit.repaired",
      {{"file", tail.torn_file}, {"half_a_line_bytes", tail.torn_bytes}, {"moved_to", TornNameOf(tail.torn_file)}}));
  return {};
}

AuditLog::AuditLog(std::unique_ptr<State> state) : state_(std::move(state)) {}
AuditLog::AuditLog(AuditLog&& other) noexcept = default;
AuditLog::~AuditLog() = default;

base::Result<AuditLog> AuditLog::Open(AuditOptions options) {
  using std::chrono_literals::operator""s;
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  SKERRY_ASSIGN_OR_RETURN(state->directory, os::OpenOwnDirectory(state->options.directory));
  const int directory = state->directory.get();
  auto lock = os::LockFile(directory, "lock", os::LockMode::kExclusive, base::Deadline::After(0s));
  if (!lock)
    return base::Err(base::Code::kConflict,
                     "another process writes to " + state->options.directory + ": " + lock.error().message);
  state->lock = std::move(*lock);
  SKERRY_ASSIGN_OR_RETURN(AuditTail tail, FindAuditTail(directory));
  SKERRY_ASSIGN_OR_RETURN(state->head, OpenHead(directory));
  SKERRY_RETURN_IF_ERROR(state->ContinueWith(std::move(tail)));
  AuditLog log(std::move(state));
  log.CountBytes();
  return log;
}

std::uint64_t AuditLog::bytes() const {
  const std::lock_guard guard(state_->mutex);
  return state_->total;
}

void AuditLog::CountBytes() {
  const std::lock_guard guard(state_->mutex);
  if (const auto counted = AuditBytesIn(state_->directory.get())) state_->total = *counted;
}

base::Result<std::uint64_t> AuditLog::Append(const std::string& event, const Json& details) {
  return state_->Append(event, details);
}

std::uint64_t AuditLog::last() const {
  const std::lock_guard guard(state_->mutex);
  return state_->last.number;
}

}  // namespace skerry::watch
