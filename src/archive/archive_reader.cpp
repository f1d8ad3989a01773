#include "archive/archive_reader.hpp"

#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "archive/byte_source.hpp"
#include "archive/decompressor.hpp"
#include "archive/entry_path.hpp"
#include "archive/tar_reader.hpp"
#include "archive/zip_reader.hpp"

namespace skerry::archive {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t kRatioFreeBytes = std::uint64_t{1} << 20U;
constexpr std::uint64_t kMostPerHeader = 4096;  // including long names and padding

std::unexpected<base::Error> TooLarge(const std::string& what) {
  return base::Err(base::Code::kTooLarge, "the archive is refused: " + what);
}

base::Status CheckRatio(std::uint64_t in, std::uint64_t out, const ArchiveLimits& limits) {
  if (out <= kRatioFreeBytes || out / limits.max_ratio <= in) return {};
  return TooLarge("it unpacks to more than " + std::to_string(limits.max_ratio) +
                  " times its size, which looks like a bomb");
}

// Counts the unpacked entries and bytes.
class Tally {
 public:
  explicit Tally(const ArchiveLimits& limits) : limits_(limits) {}

  base::Status Take(const ArchiveEntry& entry) {
    if (++entries_ > limits_.max_entries)
      return TooLarge("it has more than " + std::to_string(limits_.max_entries) + " entries");
    if (entry.size > limits_.max_file_bytes)
      return TooLarge(QuotedPath(entry.path) + " is larger than " + std::to_string(limits_.max_file_bytes) + " bytes");
    if (entry.size > limits_.max_total_bytes - bytes_)
      return TooLarge("it unpacks to more than " + std::to_string(limits_.max_total_bytes) + " bytes");
    bytes_ += entry.size;
    return {};
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  const ArchiveLimits& limits_;
  std::size_t entries_ = 0;
  std::uint64_t bytes_ = 0;
};

class CountedSource : public ByteSource {
 public:
  explicit CountedSource(int fd) : inner_(fd, 0, std::numeric_limits<std::int64_t>::max()) {}
  base::Result<std::size_t> Read(std::span<char> buffer) override {
    SKERRY_ASSIGN_OR_RETURN(const std::size_t read, inner_.Read(buffer));
    count_ += read;
    return read;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  RangeSource inner_;
  std::uint64_t count_ = 0;
};

// Compares the size of the decompressed bytes with that of the compressed ones.
class GuardedSource : public ByteSource {
 public:
  GuardedSource(std::unique_ptr<ByteSource> inner, const CountedSource& file, const ArchiveLimits& limits)
      : inner_(std::move(inner)), file_(file), limits_(limits) {}

  base::Result<std::size_t> Read(std::span<char> buffer) override {
    SKERRY_ASSIGN_OR_RETURN(const std::size_t read, inner_->Read(buffer));
    count_ += read;
    SKERRY_RETURN_IF_ERROR(CheckRatio(file_.count(), count_, limits_));
    if (count_ / kMostPerHeader > limits_.max_total_bytes / kMostPerHeader + limits_.max_entries + 1)
      return TooLarge("it unpacks to more than " + std::to_string(limits_.max_total_bytes) + " bytes");
    return read;
  }

 private:
  std::unique_ptr<ByteSource> inner_;
  const CountedSource& file_;
  const ArchiveLimits& limits_;
  std::uint64_t count_ = 0;
};

// An absolute path may be meant to lead out; some programs drop the slash, others do not.
base::Result<std::string> RelativePath(std::string_view text) {
  if (text.starts_with('/'))
    return base::Err(base::Code::kPathTraversal, "the archive is refused: " + QuotedPath(text) + " is absolute");
  SKERRY_ASSIGN_OR_RETURN(const EntryPath path, ParseEntryPath(text));
  return path.Joined();
}

class TarArchive : public ArchiveReader {
 public:
  TarArchive(int fd, const ArchiveLimits& limits) : limits_(limits), tally_(limits_), file_(fd) {}

  base::Status Start() {
    SKERRY_ASSIGN_OR_RETURN(auto source, OpenDecompressed(file_));
    guarded_ = std::make_unique<GuardedSource>(std::move(source), file_, limits_);
    reader_ = std::make_unique<TarReader>(*guarded_);
    return {};
  }

  base::Result<std::optional<ArchiveEntry>> Next() override {
    SKERRY_ASSIGN_OR_RETURN(std::optional<TarEntry> next, reader_->Next());
    if (!next) return std::nullopt;
    ArchiveEntry entry{.kind = next->kind, .size = next->size, .mode = next->mode};
    SKERRY_ASSIGN_OR_RETURN(entry.path, RelativePath(next->path));
    entry.link_target = std::move(next->link_target);
    if (entry.kind == EntryKind::kHardLink) {
      SKERRY_ASSIGN_OR_RETURN(entry.link_target, RelativePath(entry.link_target));
    }
    SKERRY_RETURN_IF_ERROR(tally_.Take(entry));
    return entry;
  }

  base::Result<std::size_t> ReadContent(std::span<char> buffer) override { return reader_->ReadContent(buffer); }

 private:
  const ArchiveLimits limits_;
  Tally tally_;
  CountedSource file_;
  std::unique_ptr<GuardedSource> guarded_;
  std::unique_ptr<TarReader> reader_;
};

class ZipArchive : public ArchiveReader {
 public:
  explicit ZipArchive(ZipReader reader) : reader_(std::move(reader)) {}

  // All sizes are known before anything is unpacked, and do not change meanwhile.
  base::Status Check(const ArchiveLimits& limits) const {
    Tally tally(limits);
    std::uint64_t compressed = 0;
    for (const ZipEntry& entry : reader_.entries()) {
      SKERRY_RETURN_IF_ERROR(tally.Take({.kind = entry.kind, .path = entry.path, .size = entry.size}));
      compressed += entry.compressed;  // the entries do not overlap, so the sum is no larger than the file
    }
    return CheckRatio(compressed, tally.bytes(), limits);
  }

  base::Result<std::optional<ArchiveEntry>> Next() override {
    if (next_ == reader_.entries().size()) return std::nullopt;
    const ZipEntry& stored = reader_.entries()[next_++];
    content_.reset();
    ArchiveEntry entry{.kind = stored.kind, .path = stored.path, .mode = stored.mode};
    if (stored.kind == EntryKind::kSymbolicLink) {
      SKERRY_ASSIGN_OR_RETURN(entry.link_target, reader_.Target(stored));
    } else if (stored.kind == EntryKind::kFile) {
      entry.size = stored.size;
      SKERRY_ASSIGN_OR_RETURN(content_, reader_.Content(stored));
    }
    return entry;
  }

  base::Result<std::size_t> ReadContent(std::span<char> buffer) override {
    if (content_ == nullptr) return 0;
    return content_->Read(buffer);
  }

 private:
  ZipReader reader_;
  std::size_t next_ = 0;
  std::unique_ptr<ZipContent> content_;
};

}  // namespace

base::Result<ArchiveFormat> DetectFormat(int fd) {
  std::array<char, 4> bytes{};
  RangeSource source(fd, 0, bytes.size());
  SKERRY_ASSIGN_OR_RETURN(const std::size_t count, ReadFull(source, bytes));
  const std::string_view magic(bytes.data(), count);
  if (magic == "PK\x03\x04"sv || magic == "PK\x05\x06"sv) return ArchiveFormat::kZip;
  return magic.starts_with("\x1F\x8B"sv) ? ArchiveFormat::kTarGzip : ArchiveFormat::kTar;
}

base::Result<std::unique_ptr<ArchiveReader>> ArchiveReader::Open(int fd, ArchiveFormat format,
                                                                 const ArchiveLimits& limits) {
  if (format == ArchiveFormat::kZip) {
    SKERRY_ASSIGN_OR_RETURN(ZipReader reader, ZipReader::Open(fd, limits.max_entries));
    auto zip = std::make_unique<ZipArchive>(std::move(reader));
    SKERRY_RETURN_IF_ERROR(zip->Check(limits));
    return zip;
  }
  auto tar = std::make_unique<TarArchive>(fd, limits);
  SKERRY_RETURN_IF_ERROR(tar->Start());
  return tar;
}

}  // namespace skerry::archive
