#include "archive/zip_directory.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>

#include "archive/entry_path.hpp"
#include "archive/zip_fields.hpp"
#include "archive/zip_format.hpp"
#include "os/errno_error.hpp"

namespace skerry::archive {
namespace {

using zip::Damaged;

constexpr std::uint64_t kMaxCentralBytes = std::uint64_t{64} << 20U;
constexpr std::uint64_t kMaxSize = std::uint64_t{1} << 62U;
constexpr std::uint64_t kMaxTargetBytes = 4096;

std::unexpected<base::Error> Refused(std::string_view name, const std::string& why,
                                     base::Code code = base::Code::kInvalidArgument) {
  return base::Err(code, "the zip archive is refused: " + QuotedPath(name) + " " + why);
}

// Where the table of contents is, as the end of the archive says.
struct Extent {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::uint64_t count = 0;
  std::uint64_t end = 0;  // where the table has to end: the next record begins here
};

base::Result<std::uint64_t> FindEnd(std::string_view tail) {
  std::optional<std::uint64_t> found;
  const std::string signature = zip::Four(zip::kEndSignature);
  for (std::size_t at = tail.find(signature); at != std::string_view::npos; at = tail.find(signature, at + 1)) {
    if (tail.size() - at < zip::kEndBytes) break;
    const std::uint16_t comment = zip::Numbers(tail.substr(at + 20)).Take16();
    if (at + zip::kEndBytes + comment != tail.size()) continue;
    if (found)
      return base::Err(base::Code::kInvalidArgument, "the zip archive is refused: it has two tables of contents");
    found = at;
  }
  if (!found) return base::Err(base::Code::kInvalidArgument, "this is no zip archive, or its end is missing");
  return *found;
}

std::unexpected<base::Error> SeveralDisks() {
  return base::Err(base::Code::kInvalidArgument, "the zip archive is refused: it is one part of several");
}

// Reads the 64-bit form of the end, when a pointer to it stands right before the end.
base::Status TakeEnd64(int fd, std::uint64_t end_at, Extent& extent) {
  if (end_at < zip::kLocator64Bytes) return {};
  const std::uint64_t locator_at = end_at - zip::kLocator64Bytes;
  SKERRY_ASSIGN_OR_RETURN(const std::string locator, zip::ReadAt(fd, locator_at, zip::kLocator64Bytes));
  zip::Numbers pointer(locator);
  if (pointer.Take32() != zip::kLocator64Signature) return {};
  const std::uint32_t disk = pointer.Take32();
  const std::uint64_t at = pointer.Take64();
  if (disk != 0 || pointer.Take32() > 1) return SeveralDisks();
  if (at > locator_at || locator_at - at < zip::kEnd64Bytes) return Damaged("its end is not where it should be");
  SKERRY_ASSIGN_OR_RETURN(const std::string record, zip::ReadAt(fd, at, zip::kEnd64Bytes));
  zip::Numbers end(record);
  if (end.Take32() != zip::kEnd64Signature || end.Take64() != locator_at - at - 12)
    return Damaged("its end is not where it should be");
  (void)end.Take32();  // versions
  if (end.Take32() != 0 || end.Take32() != 0) return SeveralDisks();
  const std::uint64_t count_here = end.Take64();
  const Extent wide{.count = end.Take64(), .end = at};
  if (count_here != wide.count) return SeveralDisks();
  const std::uint64_t size = end.Take64();
  const std::uint64_t start = end.Take64();
  if ((extent.count != zip::kCountIn64 && extent.count != wide.count) ||
      (extent.size != zip::kIn64 && extent.size != size) || (extent.start != zip::kIn64 && extent.start != start))
    return Damaged("its two ends do not say the same");
  extent = {.start = start, .size = size, .count = wide.count, .end = at};
  return {};
}

base::Result<Extent> FindTable(int fd) {
  struct stat facts{};
  if (::fstat(fd, &facts) < 0) return os::ErrnoErr("stat the archive");
  const auto file_size = static_cast<std::uint64_t>(std::max<off_t>(facts.st_size, 0));
  constexpr std::uint64_t kMaxTail = zip::kEndBytes + 0xFFFF;
  const std::uint64_t tail_size = std::min(file_size, kMaxTail);
  SKERRY_ASSIGN_OR_RETURN(const std::string tail,
                          zip::ReadAt(fd, file_size - tail_size, static_cast<std::size_t>(tail_size)));
  SKERRY_ASSIGN_OR_RETURN(const std::uint64_t at, FindEnd(tail));
  zip::Numbers end(std::string_view(tail).substr(static_cast<std::size_t>(at) + 4));
  const std::uint16_t disk = end.Take16();
  const std::uint16_t table_disk = end.Take16();
  const std::uint16_t count_here = end.Take16();
  Extent extent{.count = end.Take16(), .end = file_size - tail_size + at};
  extent.size = end.Take32();
  extent.start = end.Take32();
  if (disk != 0 || table_disk != 0 || count_here != extent.count) return SeveralDisks();
  SKERRY_RETURN_IF_ERROR(TakeEnd64(fd, extent.end, extent));
  if (extent.size > kMaxCentralBytes) return base::Err(base::Code::kTooLarge, "the zip archive has too many entries");
  if (extent.start > extent.end || extent.end - extent.start != extent.size)
    return Damaged("its table of contents is not where it should be");
  return extent;
}

// Only Unix programs store modes.
base::Status TakeKind(ZipEntry& entry, unsigned host, std::uint32_t attributes) {
  const bool directory = entry.stored_name.ends_with('/');
  const std::uint32_t mode = host == zip::kHostUnix || host == zip::kHostMac ? attributes >> 16U : 0;
  const std::uint32_t type = mode & S_IFMT;
  const std::uint32_t usual = directory ? 0755 : 0644;
  entry.mode = mode == 0 ? usual : mode & 07777U;
  entry.kind = EntryKind::kSpecial;
  if (directory) entry.kind = EntryKind::kDirectory;
  if (!directory && (type == S_IFREG || type == 0)) entry.kind = EntryKind::kFile;
  if (!directory && type == S_IFLNK) entry.kind = EntryKind::kSymbolicLink;
  if (directory != (type == S_IFDIR) && (directory ? type != 0 : type == S_IFDIR))
    return Refused(entry.stored_name, "is a directory by its name or by its mode, but not by both");
  if (directory && entry.size != 0) return Refused(entry.stored_name, "has content, but is not a file");
  if (entry.kind == EntryKind::kSymbolicLink && (entry.size == 0 || entry.size > kMaxTargetBytes))
    return Refused(entry.stored_name, "is a link to a name that no file has");
  return {};
}

base::Status TakePath(ZipEntry& entry) {
  const std::string& name = entry.stored_name;
  if (name.starts_with('/')) return Refused(name, "is an absolute path", base::Code::kPathTraversal);
  // A backslash separates names for some programs: "..\x" leads out there.
  if (name.find('\\') != std::string::npos)
    return Refused(name, "has a backslash in its name", base::Code::kPathTraversal);
  SKERRY_ASSIGN_OR_RETURN(const EntryPath path, ParseEntryPath(name));
  entry.path = path.Joined();
  return {};
}

base::Status CheckMethod(const ZipEntry& entry) {
  if ((entry.flags & (zip::kEncrypted | zip::kStronglyEncrypted | zip::kHiddenHeader)) != 0)
    return Refused(entry.stored_name, "is encrypted; make the archive without a password");
  if ((entry.flags & zip::kPatch) != 0) return Refused(entry.stored_name, "is a patch, which is not read here");
  if (entry.method != zip::kStored && entry.method != zip::kDeflated)
    return Refused(entry.stored_name,
                   "is compressed by method " + std::to_string(entry.method) + ", which is not read here; use deflate");
  if (entry.size > kMaxSize || entry.compressed > kMaxSize)
    return Refused(entry.stored_name, "has a size that no file has");
  if (entry.method == zip::kStored && entry.size != entry.compressed)
    return Damaged(QuotedPath(entry.stored_name) + " is stored, but has two sizes");
  return {};
}

base::Status TakeSizes64(ZipEntry& entry, std::string_view extra, std::uint16_t disk) {
  SKERRY_ASSIGN_OR_RETURN(const auto wide, zip::NumbersIn64(extra, entry.stored_name));
  zip::Numbers numbers(wide ? std::string_view(*wide) : std::string_view());
  if (wide && entry.size == zip::kIn64) entry.size = numbers.Take64();
  if (wide && entry.compressed == zip::kIn64) entry.compressed = numbers.Take64();
  if (wide && entry.offset == zip::kIn64) entry.offset = numbers.Take64();
  const std::uint32_t real_disk = wide && disk == zip::kCountIn64 ? numbers.Take32() : disk;
  if (!numbers.ok()) return Damaged("the sizes of " + QuotedPath(entry.stored_name) + " are cut off");
  if (real_disk != 0) return SeveralDisks();
  return {};
}

// Reads the entry at `at`, which moves behind it.
base::Result<ZipEntry> ReadEntry(int fd, std::uint64_t& at, std::uint64_t end) {
  if (end - at < zip::kCentralBytes) return Damaged("its table of contents is cut off");
  SKERRY_ASSIGN_OR_RETURN(const std::string fixed, zip::ReadAt(fd, at, zip::kCentralBytes));
  at += zip::kCentralBytes;
  zip::Numbers numbers(fixed);
  if (numbers.Take32() != zip::kCentralSignature) return Damaged("its table of contents cannot be read");
  const unsigned host = numbers.Take16() >> 8U;
  (void)numbers.Take16();  // the version that is needed to unpack
  ZipEntry entry;
  entry.flags = numbers.Take16();
  entry.method = numbers.Take16();
  (void)numbers.Take32();  // the time
  entry.checksum = numbers.Take32();
  entry.compressed = numbers.Take32();
  entry.size = numbers.Take32();
  const std::size_t name_length = numbers.Take16();
  const std::size_t extra_length = numbers.Take16();
  const std::size_t comment_length = numbers.Take16();
  const std::uint16_t disk = numbers.Take16();
  (void)numbers.Take16();  // whether the content is text
  const std::uint32_t attributes = numbers.Take32();
  entry.offset = numbers.Take32();
  if (end - at < name_length + extra_length + comment_length) return Damaged("its table of contents is cut off");
  SKERRY_ASSIGN_OR_RETURN(const std::string variable, zip::ReadAt(fd, at, name_length + extra_length));
  at += name_length + extra_length + comment_length;
  entry.stored_name = variable.substr(0, name_length);
  SKERRY_RETURN_IF_ERROR(TakePath(entry));
  SKERRY_RETURN_IF_ERROR(TakeSizes64(entry, std::string_view(variable).substr(name_length), disk));
  SKERRY_RETURN_IF_ERROR(CheckMethod(entry));
  SKERRY_RETURN_IF_ERROR(TakeKind(entry, host, attributes));
  return entry;
}

base::Status CheckNames(const std::vector<ZipEntry>& entries) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t at) -> const std::string& { return entries[at].path; });
  for (std::size_t i = 1; i < order.size(); ++i)
    if (entries[order[i]].path == entries[order[i - 1]].path)
      return Refused(entries[order[i]].stored_name, "is there twice");
  return {};
}

}  // namespace

base::Result<ZipDirectory> ReadZipDirectory(int fd, std::size_t max_entries) {
  SKERRY_ASSIGN_OR_RETURN(const Extent extent, FindTable(fd));
  if (extent.count > max_entries)
    return base::Err(base::Code::kTooLarge, "the zip archive has " + std::to_string(extent.count) +
                                                " entries; at most " + std::to_string(max_entries) + " are unpacked");
  ZipDirectory directory{.start = extent.start};
  std::uint64_t at = extent.start;
  while (directory.entries.size() < extent.count) {
    SKERRY_ASSIGN_OR_RETURN(ZipEntry entry, ReadEntry(fd, at, extent.end));
    directory.entries.push_back(std::move(entry));
  }
  if (at != extent.end) return Damaged("its table of contents has more entries than it says");
  SKERRY_RETURN_IF_ERROR(CheckNames(directory.entries));
  return directory;
}

}  // namespace skerry::archive
