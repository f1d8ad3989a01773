#include "watch/audit_tail.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <ranges>
#include <utility>

#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "watch/audit_files.hpp"

namespace skerry::watch {
namespace {

// A head that is so far ahead was forged: no audit writes so much between two starts.
constexpr std::uint64_t kFarthestAhead = std::uint64_t{1} << 32U;

struct LastLine {
  std::uint64_t number = 0;
  std::string previous;
  std::string hash;
  bool holds = false;
};

base::Result<std::uint64_t> SizeOf(int fd) {
  struct stat facts{};
  if (::fstat(fd, &facts) < 0) return os::ErrnoErr("look at the audit");
  return static_cast<std::uint64_t>(facts.st_size);
}

// Appends the bytes from `begin` on to the other file, as a line.
base::Status CopyRest(int from, std::uint64_t begin, int to) {
  std::string piece(std::size_t{64} << 10U, '\0');
  for (;;) {
    const ssize_t count = ::pread(from, piece.data(), piece.size(), static_cast<off_t>(begin));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return os::ErrnoErr("read half a line of the audit");
    if (count == 0) return os::WriteAll(to, "\n");
    SKERRY_RETURN_IF_ERROR(os::WriteAll(to, std::string_view(piece).substr(0, static_cast<std::size_t>(count))));
    begin += static_cast<std::uint64_t>(count);
  }
}

// Moves half a line at the end to another file. Gives the size of the whole lines, which stay.
base::Result<std::uint64_t> MoveTornAway(int directory, const std::string& name, AuditTail& tail) {
  const int fd = tail.file.get();
  SKERRY_ASSIGN_OR_RETURN(const std::uint64_t size, SizeOf(fd));
  SKERRY_ASSIGN_OR_RETURN(const std::uint64_t whole, WholeLines(fd, size));
  if (whole == size) return size;
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd torn,
                          OpenAuditFile(directory, TornNameOf(name), O_WRONLY | O_APPEND | O_CREAT));
  SKERRY_RETURN_IF_ERROR(CopyRest(fd, whole, torn.get()));
  if (::ftruncate(fd, static_cast<off_t>(whole)) < 0) return os::ErrnoErr("cut half a line off " + name);
  tail.torn_file = name;
  tail.torn_bytes = size - whole;
  return whole;
}

// The last line that is a record; notes lines behind it that are none.
base::Result<std::optional<LastLine>> LastLineOf(int fd, std::uint64_t size, const std::string& name, AuditTail& tail) {
  BackwardLines lines(fd, size);
  for (bool odd = false;; odd = true) {
    SKERRY_ASSIGN_OR_RETURN(const auto text, lines.Next());
    const auto line = text ? ReadAuditLine(*text) : std::nullopt;
    if (text && !line) continue;
    if (odd) tail.damage.push_back(name + " ends with what is no record");
    if (!line) return std::nullopt;
    return LastLine{line->number, std::string(line->previous), std::string(line->hash), line->holds};
  }
}

base::Result<std::optional<LastLine>> FindLastLine(int directory, AuditTail& tail) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> numbers, AuditFilesIn(directory));
  if (!numbers.empty()) tail.file_number = numbers.back();
  for (const std::uint64_t number : std::views::reverse(numbers)) {
    const std::string name = AuditFileName(number);
    const bool newest = number == tail.file_number;
    auto opened = OpenAuditFile(directory, name, newest ? O_RDWR | O_APPEND : O_RDONLY);
    if (!opened) {
      tail.damage.push_back(name + " cannot be used: " + opened.error().message);
      continue;
    }
    const int fd = opened->get();
    if (newest) tail.file = std::move(*opened);
    SKERRY_ASSIGN_OR_RETURN(const std::uint64_t size, newest ? MoveTornAway(directory, name, tail) : SizeOf(fd));
    SKERRY_ASSIGN_OR_RETURN(auto line, LastLineOf(fd, size, name, tail));
    if (line) return line;
  }
  return std::nullopt;
}

bool IsThere(int directory, const char* name) {
  struct stat facts{};
  return ::fstatat(directory, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
         (facts.st_size != 0 || !S_ISREG(facts.st_mode));
}

// A process that is killed between the line and the head leaves a head that is one behind.
bool FollowsHead(const LastLine& line, const AuditHead& head) {
  const bool same = line.number == head.number && line.hash == head.hash;
  return same || (line.number == head.number + 1 && line.previous == head.hash);
}

void CompareWithHead(int directory, const std::optional<LastLine>& line, AuditTail& tail) {
  const auto head = ReadHead(directory);
  if (line && !line->holds) tail.damage.push_back("the last record, " + std::to_string(line->number) + ", was changed");
  if (line) tail.last = {line->number, line->hash};
  if (!head) {
    if (line || IsThere(directory, kHeadFile)) tail.damage.emplace_back("the head is missing or was changed");
    return;
  }
  const AuditHead none;
  if (line ? FollowsHead(*line, *head) : *head == none) return;
  tail.damage.push_back("the head has record " + std::to_string(head->number) + " with hash " + head->hash +
                        ", the last line is " + (line ? "record " + std::to_string(line->number) : "missing"));
  if (!line) tail.last.hash = head->hash;
  if (line && !line->holds) tail.last.number = head->number;  // the number in a changed record means nothing
  // The numbers of records that were cut off are not used again, so that their absence stays visible.
  if (head->number - std::min(head->number, tail.last.number) < kFarthestAhead)
    tail.last.number = std::max(tail.last.number, head->number);
}

}  // namespace

std::string TornNameOf(const std::string& file) {
  return file.substr(0, file.find('.')) + ".torn";
}

base::Result<AuditTail> FindAuditTail(int directory) {
  AuditTail tail;
  SKERRY_ASSIGN_OR_RETURN(const auto line, FindLastLine(directory, tail));
  CompareWithHead(directory, line, tail);
  return tail;
}

}  // namespace skerry::watch
