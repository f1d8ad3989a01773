#include "engine/output_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <optional>

#include "base/unique_fd.hpp"
#include "os/errno_error.hpp"

namespace skerry::engine {

// The descriptor is there as soon as `end` is not 0, and then never changes: readers need no lock.
struct OutputFile {
  base::UniqueFd fd;
  std::atomic<std::uint64_t> end = 0;  // of the last whole frame; readers see nothing behind it
};

namespace {

// A frame: one byte for the stream, four for the length, little-endian, and the bytes.
constexpr std::size_t kHeader = 5;
constexpr std::size_t kMaxWritten = 256UL * 1024;
constexpr std::size_t kMaxRead = 1024UL * 1024;  // a larger length was not written by this code
constexpr std::size_t kWindow = 64UL * 1024;

using Header = std::array<char, kHeader>;

Header Encode(core::Stream stream, std::size_t length) {
  Header header{};
  header[0] = stream == core::Stream::kStdout ? 1 : 2;
  for (std::size_t i = 0; i < 4; ++i) header.at(1 + i) = static_cast<char>((length >> (8 * i)) & 0xFFU);
  return header;
}

struct Frame {
  core::Stream stream;
  std::uint64_t length;
};

std::optional<Frame> Decode(std::string_view header) {
  if (header.size() < kHeader || (header[0] != 1 && header[0] != 2)) return std::nullopt;
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) length |= std::uint64_t{static_cast<unsigned char>(header[1 + i])} << (8 * i);
  if (length == 0 || length > kMaxRead) return std::nullopt;
  return Frame{.stream = header[0] == 1 ? core::Stream::kStdout : core::Stream::kStderr, .length = length};
}

// A part of a file in memory: many small frames cost one call.
class Window {
 public:
  Window(int fd, std::uint64_t end) : fd_(fd), end_(end) {}

  // The bytes at `position`: at least `wanted` unless the file ends before, at most the window.
  base::Result<std::string_view> At(std::uint64_t position, std::size_t wanted) {
    const bool has = position >= begin_ && position + wanted <= begin_ + bytes_.size();
    if (!has) SKERRY_RETURN_IF_ERROR(Fill(position));
    return std::string_view(bytes_).substr(position - begin_);
  }
  [[nodiscard]] std::uint64_t end() const { return end_; }

 private:
  base::Status Fill(std::uint64_t position) {
    begin_ = position;
    bytes_.resize(position < end_ ? std::min<std::uint64_t>(kWindow, end_ - position) : 0);
    if (bytes_.empty()) return {};
    ssize_t size = -1;
    do size = ::pread(fd_, bytes_.data(), bytes_.size(), static_cast<off_t>(position));
    while (size < 0 && errno == EINTR);
    if (size < 0) return os::ErrnoErr("cannot read the output");
    bytes_.resize(static_cast<std::size_t>(size));
    return {};
  }

  int fd_;
  std::uint64_t end_;
  std::uint64_t begin_ = 0;
  std::string bytes_;
};

// The frame at a position, if all of it is there.
base::Result<std::optional<Frame>> FrameAt(Window& window, std::uint64_t position) {
  SKERRY_ASSIGN_OR_RETURN(const std::string_view bytes, window.At(position, kHeader));
  const auto frame = Decode(bytes);
  if (frame && position + kHeader + frame->length > window.end()) return std::nullopt;
  return frame;
}

void Add(std::vector<OutputPiece>& pieces, core::Stream stream, std::uint64_t offset, std::string_view bytes) {
  if (pieces.empty() || pieces.back().stream != stream) pieces.push_back({.stream = stream, .offset = offset});
  pieces.back().bytes += bytes;
}

}  // namespace

base::Result<std::vector<OutputPiece>> OutputReader::Next(std::size_t limit) {
  std::vector<OutputPiece> pieces;
  const std::uint64_t end = file_->end.load(std::memory_order_acquire);
  if (end == 0) return pieces;
  Window window(file_->fd.get(), end);
  while (limit > 0) {
    SKERRY_ASSIGN_OR_RETURN(const auto frame, FrameAt(window, position_));
    if (!frame) break;
    if (offset_ >= passed_ + frame->length) {
      position_ += kHeader + frame->length;
      passed_ += frame->length;
      continue;
    }
    const std::uint64_t skipped = offset_ - passed_;
    SKERRY_ASSIGN_OR_RETURN(std::string_view bytes, window.At(position_ + kHeader + skipped, 1));
    bytes = bytes.substr(0, std::min<std::uint64_t>(limit, frame->length - skipped));
    if (bytes.empty()) break;  // the file was truncated by another process
    Add(pieces, frame->stream, offset_, bytes);
    offset_ += bytes.size();
    limit -= bytes.size();
  }
  return pieces;
}

OutputLog::OutputLog(int directory, std::string name, OutputRoom room)
    : directory_(directory), name_(std::move(name)), file_(std::make_shared<OutputFile>()), room_(std::move(room)) {}

OutputLog::~OutputLog() = default;

core::SinkAnswer OutputLog::Write(core::Stream stream, std::string_view bytes, base::Deadline /*deadline*/) {
  const std::lock_guard lock(mutex_);
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::string_view piece = rest.substr(0, kMaxWritten);
    rest.remove_prefix(piece.size());
    (Append(stream, piece) ? size_ : lost_) += piece.size();
  }
  return {.accepted = bytes.size()};
}

bool OutputLog::Open() {
  if (file_->fd.valid()) return true;
  // Readers use the same descriptor.
  constexpr int kFlags = O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  file_->fd.Reset(::openat(directory_, name_.c_str(), kFlags, S_IRUSR | S_IWUSR));
  return file_->fd.valid();
}

bool OutputLog::Append(core::Stream stream, std::string_view piece) {
  const std::uint64_t bytes = kHeader + piece.size();
  if (broken_) return false;
  if (room_.take && !room_.take(bytes)) {
    refused_ = true;
    return false;
  }
  const bool written = Open() && WriteFrame(stream, piece);
  if (!written && room_.give_back) room_.give_back(bytes);
  return written;
}

bool OutputLog::WriteFrame(core::Stream stream, std::string_view piece) {
  Header header = Encode(stream, piece.size());
  // writev only reads.
  const std::array<iovec, 2> parts = {iovec{.iov_base = header.data(), .iov_len = header.size()},
                                      iovec{.iov_base = const_cast<char*>(piece.data()), .iov_len = piece.size()}};
  ssize_t written = -1;
  do written = ::writev(file_->fd.get(), parts.data(), parts.size());
  while (written < 0 && errno == EINTR);
  const std::uint64_t end = file_->end.load(std::memory_order_relaxed);
  if (written != static_cast<ssize_t>(kHeader + piece.size())) {
    if (written > 0) CutTo(end);
    return false;
  }
  file_->end.store(end + kHeader + piece.size(), std::memory_order_release);
  return true;
}

void OutputLog::CutTo(std::uint64_t end) {
  broken_ = ::ftruncate(file_->fd.get(), static_cast<off_t>(end)) != 0;
}

std::uint64_t OutputLog::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

std::uint64_t OutputLog::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

bool OutputLog::was_refused() const {
  const std::lock_guard lock(mutex_);
  return refused_;
}

base::Result<OutputReader> OutputLog::Read(std::uint64_t offset) const {
  return OutputReader(file_, offset);
}

base::Result<OutputReader> OutputLog::ReadFile(int directory, const std::string& name, std::uint64_t offset) {
  const auto file = std::make_shared<OutputFile>();
  file->fd.Reset(::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file->fd.valid() && errno == ENOENT) return OutputReader(file, offset);
  if (!file->fd.valid()) return os::ErrnoErr("cannot open the output " + name);
  struct stat status{};
  if (::fstat(file->fd.get(), &status) != 0) return os::ErrnoErr("cannot look at the output " + name);
  if (!S_ISREG(status.st_mode)) return base::Err(base::Code::kUnavailable, "the output " + name + " is not a file");
  file->end = static_cast<std::uint64_t>(status.st_size);
  return OutputReader(file, offset);
}

base::Result<std::string> OutputLog::All(OutputReader reader, core::Stream stream, std::size_t limit) {
  std::string all;
  while (all.size() < limit) {
    SKERRY_ASSIGN_OR_RETURN(const auto pieces, reader.Next(kWindow));
    if (pieces.empty()) break;
    for (const OutputPiece& piece : pieces)
      if (piece.stream == stream) all += std::string_view(piece.bytes).substr(0, limit - all.size());
  }
  return all;
}

}  // namespace skerry::engine
