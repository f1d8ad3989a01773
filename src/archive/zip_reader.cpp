#include "archive/zip_reader.hpp"

#include <algorithm>
#include <array>

#include "archive/entry_path.hpp"
#include "archive/zip_fields.hpp"
#include "archive/zip_format.hpp"

namespace skerry::archive {
namespace {

constexpr std::size_t kInputBytes = std::size_t{64} << 10U;

}  // namespace

void ZipContent::EndInflate::operator()(z_stream* stream) const {
  ::inflateEnd(stream);
  delete stream;
}

ZipContent::ZipContent(int fd, const ZipEntry& entry)
    : name_(entry.stored_name),
      raw_(fd, entry.content, entry.compressed),
      left_(entry.size),
      expected_(entry.checksum) {}

base::Result<std::unique_ptr<ZipContent>> ZipContent::Open(int fd, const ZipEntry& entry) {
  std::unique_ptr<ZipContent> content(new ZipContent(fd, entry));
  if (entry.method == zip::kStored) return content;
  constexpr int kRaw = -15;
  content->stream_.reset(new z_stream{});
  content->input_.resize(kInputBytes);
  if (::inflateInit2(content->stream_.get(), kRaw) != Z_OK)
    return base::Err(base::Code::kUnavailable, "cannot start zlib");
  return content;
}

base::Result<std::size_t> ZipContent::Read(std::span<char> buffer) {
  const std::span<char> room = buffer.first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), left_)));
  std::size_t count = 0;
  if (!room.empty()) {
    SKERRY_ASSIGN_OR_RETURN(count, stream_ ? Inflate(room) : raw_.Read(room));
    if (count == 0) return zip::Damaged(QuotedPath(name_) + " has less content than it says");
    left_ -= count;
    checksum_ = static_cast<std::uint32_t>(::crc32_z(checksum_, reinterpret_cast<const Bytef*>(buffer.data()), count));
  }
  // Checked before the last bytes are given out, so that no caller uses damaged content.
  if (left_ == 0) SKERRY_RETURN_IF_ERROR(CheckEnd());
  return count;
}

// 0 at the end of the compressed stream.
base::Result<std::size_t> ZipContent::Inflate(std::span<char> buffer) {
  const auto room = static_cast<uInt>(std::min(buffer.size(), kInputBytes));
  stream_->next_out = reinterpret_cast<Bytef*>(buffer.data());
  stream_->avail_out = room;
  while (!ended_ && stream_->avail_out == room) {
    bool dry = false;
    if (stream_->avail_in == 0) {
      SKERRY_ASSIGN_OR_RETURN(const std::size_t count, raw_.Read(input_));
      stream_->next_in = reinterpret_cast<Bytef*>(input_.data());
      stream_->avail_in = static_cast<uInt>(count);
      dry = count == 0;
    }
    // Also without input: the end may be among the bits that zlib already has.
    const int answer = ::inflate(stream_.get(), Z_NO_FLUSH);
    if (answer == Z_MEM_ERROR) return base::Err(base::Code::kUnavailable, "no memory to unpack");
    if (answer != Z_OK && answer != Z_STREAM_END && answer != Z_BUF_ERROR)
      return zip::Damaged("the content of " + QuotedPath(name_) + " cannot be unpacked");
    ended_ = answer == Z_STREAM_END;
    if (dry && !ended_ && stream_->avail_out == room)
      return zip::Damaged("the content of " + QuotedPath(name_) + " is cut off");
  }
  return room - stream_->avail_out;
}

base::Status ZipContent::CheckEnd() {
  std::array<char, 1> more{};
  if (stream_) {
    SKERRY_ASSIGN_OR_RETURN(const std::size_t count, Inflate(more));
    if (count != 0) return zip::Damaged(QuotedPath(name_) + " has more content than it says");
  }
  const bool input_left = stream_ && stream_->avail_in != 0;
  SKERRY_ASSIGN_OR_RETURN(const std::size_t rest, raw_.Read(more));
  if (input_left || rest != 0) return zip::Damaged("something follows the content of " + QuotedPath(name_));
  if (checksum_ != expected_) return zip::Damaged("the content of " + QuotedPath(name_) + " has a wrong checksum");
  return {};
}

base::Result<ZipReader> ZipReader::Open(int fd, std::size_t max_entries) {
  SKERRY_ASSIGN_OR_RETURN(ZipDirectory directory, ReadZipDirectory(fd, max_entries));
  SKERRY_RETURN_IF_ERROR(CheckLocalHeaders(fd, directory));
  return ZipReader(fd, std::move(directory.entries));
}

base::Result<std::unique_ptr<ZipContent>> ZipReader::Content(const ZipEntry& entry) const {
  return ZipContent::Open(fd_, entry);
}

base::Result<std::string> ZipReader::Target(const ZipEntry& entry) const {
  SKERRY_ASSIGN_OR_RETURN(const std::unique_ptr<ZipContent> content, Content(entry));
  std::string target(static_cast<std::size_t>(entry.size), '\0');
  SKERRY_ASSIGN_OR_RETURN(const std::size_t count, ReadFull(*content, target));
  if (count != target.size() || target.find('\0') != std::string::npos)
    return zip::Damaged(QuotedPath(entry.stored_name) + " is a link to a name that no file has");
  return target;
}

}  // namespace skerry::archive
