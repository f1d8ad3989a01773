// Reading: whole files, parts of them, lines.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "workspace/agent_workspace.hpp"
#include "workspace/content.hpp"
#include "workspace/path_errors.hpp"

namespace skerry::workspace {
namespace {

constexpr std::size_t kBlock = std::size_t{64} << 10U;

base::Result<std::string> ReadPart(int fd, std::uint64_t offset, std::size_t size) {
  std::string bytes(size, '\0');
  SKERRY_ASSIGN_OR_RETURN(const std::size_t count, ReadInto(fd, offset, bytes.data(), size));
  bytes.resize(count);
  return bytes;
}

base::Error TooLong(std::size_t limit) {
  return {base::Code::kTooLarge,
          "these lines have more than " + std::to_string(limit) + " bytes, which is the limit; ask for fewer"};
}

// Picks lines out of blocks.
class LinePicker {
 public:
  LinePicker(const LineRange& range, std::size_t limit)
      : last_(range.count.value_or(kEndless) > kEndless - range.first ? kEndless : range.first + *range.count),
        limit_(limit) {
    lines_.first = range.first;
  }

  [[nodiscard]] bool skipping() const { return line_ < lines_.first; }
  [[nodiscard]] bool more() const { return lines_.more; }

  // Takes lines until there are enough; a rest of the block then shows that there is more.
  base::Status Take(std::string_view block) {
    while (!block.empty() && !done()) {
      const std::size_t end = block.find('\n');
      const std::string_view piece = block.substr(0, end == std::string_view::npos ? end : end + 1);
      if (!skipping()) {
        if (piece.size() > limit_ - lines_.text.size()) return std::unexpected(TooLong(limit_));
        lines_.text += piece;
      }
      if (end != std::string_view::npos) ++line_;
      block.remove_prefix(piece.size());
    }
    lines_.more = done() && !block.empty();
    return {};
  }

  Lines Finish() && {
    const bool open_line = !lines_.text.empty() && lines_.text.back() != '\n';
    lines_.count = (line_ > lines_.first ? line_ - lines_.first : 0) + (open_line ? 1 : 0);
    return std::move(lines_);
  }

 private:
  [[nodiscard]] bool done() const { return line_ >= last_; }

  static constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last_;  // the first line that is not wanted any more
  std::size_t limit_;
  std::uint64_t line_ = 1;
  Lines lines_;
};

// The next place that is no hole: holes have no line ends, and can be too long to be read.
std::uint64_t BehindHole(int fd, std::uint64_t at) {
  const off_t data = ::lseek(fd, static_cast<off_t>(at), SEEK_DATA);
  if (data < 0) return errno == ENXIO ? std::numeric_limits<std::uint64_t>::max() : at;
  return static_cast<std::uint64_t>(data);
}

base::Result<Lines> PickLines(const FileReader& file, const LineRange& range, std::size_t limit) {
  LinePicker picker(range, limit);
  std::vector<char> block(std::clamp<std::uint64_t>(file.size() + 1, 1, kBlock));
  std::size_t count = block.size();
  for (std::uint64_t at = 0; count == block.size() && !picker.more(); at += count) {
    if (picker.skipping()) at = BehindHole(file.fd(), at);
    SKERRY_ASSIGN_OR_RETURN(count, ReadInto(file.fd(), at, block.data(), block.size()));
    SKERRY_RETURN_IF_ERROR(picker.Take({block.data(), count}));
  }
  return std::move(picker).Finish();
}

}  // namespace

base::Result<std::string> FileReader::ReadAt(std::uint64_t offset, std::size_t size) const {
  struct stat facts{};
  if (::fstat(fd_.get(), &facts) < 0) return PathErr();
  const auto present = static_cast<std::uint64_t>(facts.st_size);
  return ReadPart(fd_.get(), offset, std::min<std::uint64_t>(size, present - std::min(present, offset)));
}

base::Result<FileReader> AgentWorkspace::OpenFile(std::string_view path) const {
  auto mapped = MapPath(path);
  if (!mapped) return std::unexpected(Named(path, std::move(mapped).error()));
  auto fd = resolver_.Open(*mapped, O_RDONLY);
  if (!fd) return std::unexpected(Named(path, std::move(fd).error()));
  struct stat facts{};
  if (::fstat(fd->get(), &facts) < 0) return std::unexpected(Named(path, PathError(errno)));
  if (S_ISDIR(facts.st_mode)) return std::unexpected(Named(path, PathError(EISDIR)));
  return FileReader(std::move(*fd), static_cast<std::uint64_t>(facts.st_size));
}

base::Result<std::string> AgentWorkspace::Read(std::string_view path, const ByteRange& range, std::size_t limit) const {
  SKERRY_ASSIGN_OR_RETURN(const FileReader file, OpenFile(path));
  const std::uint64_t behind = file.size() - std::min(file.size(), range.offset);
  const std::uint64_t wanted = std::min(behind, range.length.value_or(behind));
  if (wanted > limit)
    return NamedErr(
        path, base::Code::kTooLarge,
        std::to_string(wanted) + " bytes, and the limit is " + std::to_string(limit) + "; read a part of it");
  return Named(path, ReadPart(file.fd(), range.offset, wanted));
}

base::Result<Lines> AgentWorkspace::ReadLines(std::string_view path, const LineRange& range, std::size_t limit) const {
  if (range.first == 0) return NamedErr(path, base::Code::kInvalidArgument, "lines count from 1");
  SKERRY_ASSIGN_OR_RETURN(const FileReader file, OpenFile(path));
  return Named(path, PickLines(file, range, limit));
}

}  // namespace skerry::workspace
