#include "archive/zip_writer.hpp"

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "archive/content_copy.hpp"
#include "archive/zip_format.hpp"
#include "base/utf8.hpp"

namespace skerry::archive {
namespace {

using zip::Eight;
using zip::Four;
using zip::Two;

constexpr std::size_t kMaxCentralBytes = std::size_t{128} << 20U;
constexpr std::size_t kMaxNameLength = 0xFFFF;
constexpr std::size_t kOutputBytes = std::size_t{64} << 10U;
// Deflate makes incompressible content a little larger, so zip64 begins some way below 4 GB.
constexpr std::uint64_t kLarge = 0xF0000000;
constexpr std::uint16_t kVersion = 20;
constexpr std::uint16_t kVersion64 = 45;

// Date and time as DOS had them: from 1980 to 2107, in steps of two seconds.
std::uint32_t DosTime(std::int64_t seconds) {
  constexpr std::int64_t kFirst = 315'532'800;   // 1980-01-01
  constexpr std::int64_t kLast = 4'354'819'198;  // 2107-12-31 23:59:58
  const time_t moment = std::clamp(seconds, kFirst, kLast);
  struct tm parts{};
  ::gmtime_r(&moment, &parts);
  const auto part = [](int value) { return static_cast<std::uint32_t>(value); };
  return part(parts.tm_year - 80) << 25U | part(parts.tm_mon + 1) << 21U | part(parts.tm_mday) << 16U |
         part(parts.tm_hour) << 11U | part(parts.tm_min) << 5U | part(parts.tm_sec / 2);
}

std::string TimeExtra(std::int64_t seconds) {
  if (seconds < std::numeric_limits<std::int32_t>::min() || seconds > std::numeric_limits<std::int32_t>::max())
    return "";
  constexpr char kModified = 1;
  return Two(zip::kExtraTime) + Two(5) + kModified + Four(static_cast<std::uint64_t>(seconds));
}

std::uint32_t Checksum(std::uint32_t sum, std::string_view bytes) {
  return static_cast<std::uint32_t>(::crc32_z(sum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

struct EndDeflate {
  void operator()(z_stream* stream) const {
    ::deflateEnd(stream);
    delete stream;
  }
};
using Deflate = std::unique_ptr<z_stream, EndDeflate>;

Deflate StartDeflate() {
  constexpr int kRaw = -15;
  constexpr int kMemoryLevel = 8;
  Deflate stream(new z_stream{});
  const int answer =
      ::deflateInit2(stream.get(), Z_DEFAULT_COMPRESSION, Z_DEFLATED, kRaw, kMemoryLevel, Z_DEFAULT_STRATEGY);
  return answer == Z_OK ? std::move(stream) : nullptr;
}

}  // namespace

struct ZipWriter::Record {
  std::string name;
  std::uint32_t mode = 0;  // with the file type
  std::int64_t mtime = 0;
  std::uint16_t method = zip::kStored;
  unsigned flags = 0;
  std::uint32_t checksum = 0;
  std::uint64_t compressed = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;

  Record(const Member& member, std::string_view ending, std::uint32_t type)
      : name(member.path + std::string(ending)), mode((member.mode & 07777U) | type), mtime(member.mtime.tv_sec) {
    const bool ascii = std::ranges::all_of(name, [](char byte) { return static_cast<unsigned char>(byte) < 0x80U; });
    if (!ascii && base::IsValidUtf8(name)) flags = zip::kUtf8Name;
  }
  [[nodiscard]] bool IsLarge() const { return size >= kLarge || compressed >= kLarge; }
};

base::Status ZipWriter::Write(std::string_view bytes) {
  written_ += bytes.size();
  return sink_.Write(bytes);
}

base::Status ZipWriter::WriteLocal(const Record& record, Sizes sizes) {
  if (record.name.size() > kMaxNameLength)
    return base::Err(base::Code::kTooLarge, QuotedPath(record.name) + " is too long a name for a zip archive");
  std::string extra = TimeExtra(record.mtime);
  const bool ahead = sizes == Sizes::kAhead;
  const std::uint64_t compressed = ahead ? record.compressed : 0;
  const std::uint64_t size = ahead ? record.size : 0;
  // The field also says that the sizes behind the content take eight bytes each.
  if (record.IsLarge()) extra += Two(zip::kExtra64) + Two(16) + Eight(size) + Eight(compressed);
  std::string header = Four(zip::kLocalSignature) + Two(record.IsLarge() ? kVersion64 : kVersion);
  header += Two(record.flags) + Two(record.method) + Four(DosTime(record.mtime)) + Four(ahead ? record.checksum : 0);
  header += Four(record.IsLarge() ? zip::kIn64 : compressed) + Four(record.IsLarge() ? zip::kIn64 : size);
  header += Two(record.name.size()) + Two(extra.size());
  return Write(header + record.name + extra);
}

base::Status ZipWriter::AppendCentral(const Record& record) {
  std::string large;
  if (record.size >= zip::kIn64) large += Eight(record.size);
  if (record.compressed >= zip::kIn64) large += Eight(record.compressed);
  if (record.offset >= zip::kIn64) large += Eight(record.offset);
  std::string extra = TimeExtra(record.mtime);
  if (!large.empty()) extra += Two(zip::kExtra64) + Two(large.size()) + large;
  const auto low = [](std::uint64_t value) { return Four(std::min<std::uint64_t>(value, zip::kIn64)); };
  const std::uint16_t version = record.IsLarge() || !large.empty() ? kVersion64 : kVersion;
  central_ += Four(zip::kCentralSignature) + Two(zip::kHostUnix << 8U | kVersion64) + Two(version);
  central_ += Two(record.flags) + Two(record.method) + Four(DosTime(record.mtime)) + Four(record.checksum);
  central_ += low(record.compressed) + low(record.size) + Two(record.name.size()) + Two(extra.size());
  constexpr std::uint32_t kDosDirectory = 0x10;
  const std::uint32_t dos = S_ISDIR(record.mode) ? kDosDirectory : 0;
  central_ += Two(0) + Two(0) + Two(0) + Four(record.mode << 16U | dos) + low(record.offset);
  central_ += record.name + extra;
  ++count_;
  if (central_.size() > kMaxCentralBytes)
    return base::Err(base::Code::kTooLarge, "there are too many files for a zip archive; make it a tar archive");
  return {};
}

base::Status ZipWriter::AddStored(Record& record, std::string_view content) {
  record.offset = written_;
  record.size = record.compressed = content.size();
  record.checksum = Checksum(0, content);
  SKERRY_RETURN_IF_ERROR(WriteLocal(record, Sizes::kAhead));
  SKERRY_RETURN_IF_ERROR(Write(content));
  return AppendCentral(record);
}

base::Status ZipWriter::AddDirectory(const Member& member) {
  Record record(member, "/", S_IFDIR);
  return AddStored(record, "");
}

base::Status ZipWriter::AddLink(const Member& member, std::string_view target) {
  Record record(member, "", S_IFLNK);
  return AddStored(record, target);
}

base::Status ZipWriter::AddFile(const Member& member, std::uint64_t size, ByteSource& content) {
  Record record(member, "", S_IFREG);
  if (size == 0) return AddStored(record, "");
  record.method = zip::kDeflated;
  record.flags |= zip::kHasDescriptor;
  record.offset = written_;
  record.size = size;
  SKERRY_RETURN_IF_ERROR(WriteLocal(record, Sizes::kBehind));
  const bool large = record.IsLarge();
  SKERRY_RETURN_IF_ERROR(WriteDeflated(record, content));
  const auto number = [&](std::uint64_t value) { return large ? Eight(value) : Four(value); };
  SKERRY_RETURN_IF_ERROR(
      Write(Four(zip::kDescriptorSignature) + Four(record.checksum) + number(record.compressed) + number(record.size)));
  return AppendCentral(record);
}

base::Status ZipWriter::WriteDeflated(Record& record, ByteSource& content) {
  const Deflate stream = StartDeflate();
  if (stream == nullptr) return base::Err(base::Code::kUnavailable, "cannot start zlib");
  std::vector<char> out(kOutputBytes);
  const std::uint64_t start = written_;
  const auto drain = [&](int flush) -> base::Status {
    do {
      stream->next_out = reinterpret_cast<Bytef*>(out.data());
      stream->avail_out = static_cast<uInt>(out.size());
      if (::deflate(stream.get(), flush) == Z_STREAM_ERROR)
        return base::Err(base::Code::kInternal, "zlib: wrong state");
      SKERRY_RETURN_IF_ERROR(Write({out.data(), out.size() - stream->avail_out}));
    } while (stream->avail_out == 0);
    return {};
  };
  const auto compress = [&](std::string_view piece) {
    record.checksum = Checksum(record.checksum, piece);
    // zlib only reads from there; its interface lacks const.
    stream->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));  // NOLINT
    stream->avail_in = static_cast<uInt>(piece.size());
    return drain(Z_NO_FLUSH);
  };
  SKERRY_RETURN_IF_ERROR(CopyContent(record.name, record.size, content, compress));
  SKERRY_RETURN_IF_ERROR(drain(Z_FINISH));
  record.compressed = written_ - start;
  return {};
}

base::Status ZipWriter::Finish() {
  const std::uint64_t start = written_;
  SKERRY_RETURN_IF_ERROR(Write(central_));
  const std::uint64_t end = written_;
  if (count_ >= zip::kCountIn64 || start >= zip::kIn64) {
    std::string end64 = Four(zip::kEnd64Signature) + Eight(zip::kEnd64Bytes - 12);
    end64 += Two(zip::kHostUnix << 8U | kVersion64) + Two(kVersion64) + Four(0) + Four(0);
    end64 += Eight(count_) + Eight(count_) + Eight(end - start) + Eight(start);
    SKERRY_RETURN_IF_ERROR(Write(end64 + Four(zip::kLocator64Signature) + Four(0) + Eight(end) + Four(1)));
  }
  const std::uint64_t count = std::min<std::uint64_t>(count_, zip::kCountIn64);
  std::string last = Four(zip::kEndSignature) + Two(0) + Two(0) + Two(count) + Two(count);
  last += Four(end - start) + Four(std::min<std::uint64_t>(start, zip::kIn64)) + Two(0);
  return Write(last);
}

}  // namespace skerry::archive
