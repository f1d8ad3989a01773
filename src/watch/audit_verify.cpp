#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "os/errno_error.hpp"
#include "watch/audit_checker.hpp"
#include "watch/audit_files.hpp"
#include "watch/audit_log.hpp"

namespace skerry::watch {
namespace {

using Lines = ForwardLines;

// Receives the lines of a file. `line` gives false to stop.
struct Taker {
  std::function<bool(const std::string& file, std::size_t line, std::string_view text)> line;
  std::function<void(const std::string& file, std::size_t line)> half;
};

base::Result<base::UniqueFd> OpenDirectory(const std::string& path) {
  base::UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.valid()) return directory;
  if (errno == ENOENT)
    return base::Err(base::Code::kNotFound, "there is no audit at " + path + "; a daemon (skerry serve) writes it");
  return os::ErrnoErr(path);
}

// False for a link or a directory with the name of an audit file.
bool IsFile(int directory, const std::string& name) {
  struct stat facts{};
  return ::fstatat(directory, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(facts.st_mode);
}

// Half a line at the end may be one that is being written: the reader waits for its end.
base::Result<std::optional<Lines::Line>> NextLine(Lines& lines) {
  constexpr int kTries = 20;
  constexpr std::chrono::milliseconds kPause{5};
  for (int tries = 1;; ++tries) {
    SKERRY_ASSIGN_OR_RETURN(const auto line, lines.Next());
    if (!line || line->end != Lines::End::kFile || tries == kTries) return line;
    std::this_thread::sleep_for(kPause);
  }
}

base::Result<bool> ReadAuditFile(int directory, const std::string& name, const Taker& take) {
  const auto fd = OpenAuditFile(directory, name, O_RDONLY);
  if (!fd && !IsFile(directory, name)) return take.line(name, 1, "");
  if (!fd) return std::unexpected(fd.error());
  Lines lines(fd->get());
  for (std::size_t number = 1;; ++number) {
    SKERRY_ASSIGN_OR_RETURN(const auto line, NextLine(lines));
    if (!line) return true;
    if (line->end == Lines::End::kFile) {
      take.half(name, number);
      return true;
    }
    if (!take.line(name, number, line->text)) return false;
  }
}

base::Status ReadAuditFiles(int directory, const Taker& take) {
  SKERRY_ASSIGN_OR_RETURN(const auto numbers, AuditFilesIn(directory));
  for (const std::uint64_t number : numbers) {
    SKERRY_ASSIGN_OR_RETURN(const bool more, ReadAuditFile(directory, AuditFileName(number), take));
    if (!more) break;
  }
  return {};
}

}  // namespace

base::Result<AuditReport> VerifyAudit(const std::string& directory, const AuditTake& take) {
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd fd, OpenDirectory(directory));
  const auto head = ReadHead(fd.get());
  if (!head) {
    SKERRY_ASSIGN_OR_RETURN(const auto files, AuditFilesIn(fd.get()));
    if (files.empty()) return base::Err(base::Code::kNotFound, "there is no audit at " + directory);
  }
  AuditChecker checker(head);
  const auto line = [&](const std::string& file, std::size_t number, std::string_view text) {
    return !checker.Take(file, number, text) || !take || take(text);
  };
  const auto half = [&](const std::string& file, std::size_t number) { checker.TakeHalf(file, number); };
  SKERRY_RETURN_IF_ERROR(ReadAuditFiles(fd.get(), {line, half}));
  return checker.Finish(ReadHead(fd.get()));
}

base::Status ReadAudit(const std::string& directory, const AuditTake& take) {
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd fd, OpenDirectory(directory));
  const auto line = [&](const std::string&, std::size_t, std::string_view text) { return take(text); };
  return ReadAuditFiles(fd.get(), {line, [](const std::string&, std::size_t) {}});
}

}  // namespace skerry::watch
