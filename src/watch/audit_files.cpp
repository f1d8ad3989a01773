#include "watch/audit_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "os/errno_error.hpp"
#include "os/own_directory.hpp"

namespace skerry::watch {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10U;

// Reads fewer bytes than asked for only at the end of the file.
base::Result<std::size_t> ReadAt(int fd, char* bytes, std::size_t size, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = ::pread(fd, bytes + done, size - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return os::ErrnoErr("read the audit");
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

}  // namespace

base::Result<std::vector<std::uint64_t>> AuditFilesIn(int directory) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> names, os::NamesOf(directory));
  std::vector<std::uint64_t> numbers;
  for (const std::string& name : names)
    if (const auto number = AuditFileNumber(name)) numbers.push_back(*number);
  std::ranges::sort(numbers);
  return numbers;
}

base::Result<std::uint64_t> AuditBytesIn(int directory) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> names, os::NamesOf(directory));
  std::uint64_t bytes = 0;
  for (const std::string& name : names) {
    struct stat facts{};
    if (::fstatat(directory, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(facts.st_mode))
      bytes += static_cast<std::uint64_t>(facts.st_size);
  }
  return bytes;
}

base::Result<base::UniqueFd> OpenAuditFile(int directory, const std::string& name, int flags) {
  // Without waiting, in case a pipe has that name.
  base::UniqueFd fd(::openat(directory, name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!fd.valid()) return os::ErrnoErr("open " + name);
  struct stat facts{};
  if (::fstat(fd.get(), &facts) < 0) return os::ErrnoErr(name);
  if (!S_ISREG(facts.st_mode)) return base::Err(base::Code::kInvalidArgument, name + " is no file");
  return fd;
}

std::optional<AuditHead> ReadHead(int directory) {
  const auto fd = OpenAuditFile(directory, kHeadFile, O_RDONLY);
  if (!fd) return std::nullopt;
  std::array<char, 128> text{};
  const auto once = [&]() -> std::string {
    const auto size = ReadAt(fd->get(), text.data(), text.size(), 0);
    return {text.data(), size.value_or(0)};
  };
  // While the head is being replaced, a reader may see half of the old and half of the new one.
  constexpr int kTries = 100;
  std::string before = once();
  for (int tries = 0; tries < kTries; ++tries) {
    std::string now = once();
    if (now == before) break;
    before = std::move(now);
  }
  return ReadHeadText(before);
}

base::Result<std::size_t> ForwardLines::Fill() {
  held_.erase(0, used_);
  used_ = 0;
  const std::size_t size = held_.size();
  held_.resize(size + kPiece);
  const auto count = ReadAt(fd_, held_.data() + size, kPiece, offset_);
  held_.resize(size + count.value_or(0));
  offset_ += count.value_or(0);
  return count;
}

base::Result<std::optional<ForwardLines::Line>> ForwardLines::Next() {
  std::size_t searched = 0;
  for (;;) {
    const std::string_view rest = std::string_view(held_).substr(used_);
    const std::size_t end = rest.find('\n', searched);
    if (end != std::string_view::npos) {
      used_ += end + 1;
      return Line{rest.substr(0, end), End::kNewline};
    }
    searched = rest.size();
    if (searched >= kLongestLine) {
      used_ = held_.size();
      return Line{rest, End::kTooLong};
    }
    SKERRY_ASSIGN_OR_RETURN(const std::size_t count, Fill());
    if (count != 0) continue;
    if (held_.empty()) return std::nullopt;
    return Line{held_, End::kFile};
  }
}

base::Status BackwardLines::Fill() {
  const std::size_t size = std::min<std::uint64_t>(piece_, begin_);
  std::string piece(size, '\0');
  SKERRY_ASSIGN_OR_RETURN(const std::size_t count, ReadAt(fd_, piece.data(), size, begin_ - size));
  piece.resize(count);
  held_.insert(0, piece);
  begin_ -= size;
  piece_ = std::min(piece_ * 2, kLongestLine);
  return {};
}

base::Result<std::optional<std::string>> BackwardLines::Next() {
  for (;;) {
    // The last byte is the end of the wanted line.
    const std::size_t before = held_.size() < 2 ? std::string::npos : held_.rfind('\n', held_.size() - 2);
    const bool whole = before != std::string::npos || begin_ == 0 || held_.size() >= kLongestLine;
    if (whole && held_.empty()) return std::nullopt;
    if (whole) {
      std::string line = held_.substr(before == std::string::npos ? 0 : before + 1);
      held_.resize(held_.size() - line.size());
      if (line.ends_with('\n')) line.pop_back();
      return line;
    }
    SKERRY_RETURN_IF_ERROR(Fill());
  }
}

base::Result<std::uint64_t> WholeLines(int fd, std::uint64_t size) {
  std::string piece(kPiece, '\0');
  while (size > 0) {
    const std::size_t wanted = std::min<std::uint64_t>(size, kPiece);
    SKERRY_ASSIGN_OR_RETURN(const std::size_t count, ReadAt(fd, piece.data(), wanted, size - wanted));
    const std::size_t end = std::string_view(piece).substr(0, count).rfind('\n');
    if (end != std::string_view::npos) return size - wanted + end + 1;
    size -= wanted;
  }
  return 0;
}

}  // namespace skerry::watch
