#include "archive/tar_reader.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "base/printable.hpp"

namespace skerry::archive {
namespace {

constexpr std::uint64_t kMaxExtensionBytes = 1U << 20U;
constexpr std::size_t kSkipBytes = std::size_t{64} << 10U;
constexpr std::uint64_t kMaxSize = std::numeric_limits<std::int64_t>::max() - kTarBlockBytes;

std::unexpected<base::Error> Bad(const std::string& message) {
  return base::Err(base::Code::kInvalidArgument, message);
}

std::unexpected<base::Error> CutOff() {
  return Bad("the archive is cut off: its end is missing");
}

std::string Quoted(std::string_view name) {
  return "'" + base::Printable(base::Excerpt(name)) + "'";
}

std::uint64_t PaddingOf(std::uint64_t size) {
  return (kTarBlockBytes - size % kTarBlockBytes) % kTarBlockBytes;
}

base::Result<EntryKind> KindOf(const TarHeader& header, std::string_view path) {
  switch (header.type) {
    case '\0':
    case '0':
    case '7':
      return path.ends_with('/') ? EntryKind::kDirectory : EntryKind::kFile;
    case '1':
      return EntryKind::kHardLink;
    case '2':
      return EntryKind::kSymbolicLink;
    case '3':
    case '4':
    case '6':
      return EntryKind::kSpecial;
    case '5':
      return EntryKind::kDirectory;
    case 'S':
      return Bad(Quoted(path) + " is a sparse file, which is not read here; make the archive without --sparse");
    default:
      return Bad(Quoted(path) + " is of a kind that is not read here (" + Quoted(std::string(1, header.type)) + ")");
  }
}

}  // namespace

base::Result<bool> TarReader::ReadBlock(std::span<char, kTarBlockBytes> block) {
  SKERRY_ASSIGN_OR_RETURN(const std::size_t count, ReadFull(source_, block));
  if (count != 0 && count != kTarBlockBytes) return CutOff();
  return count != 0;
}

base::Result<std::size_t> TarReader::ReadContent(std::span<char> buffer) {
  const std::uint64_t wanted = std::min<std::uint64_t>(buffer.size(), content_left_);
  if (wanted == 0) return 0;
  SKERRY_ASSIGN_OR_RETURN(const std::size_t count, source_.Read(buffer.first(static_cast<std::size_t>(wanted))));
  if (count == 0) return CutOff();
  content_left_ -= count;
  return count;
}

base::Status TarReader::SkipContent() {
  content_left_ += std::exchange(padding_left_, 0);
  std::array<char, kSkipBytes> buffer;  // NOLINT: filled before it is read
  while (content_left_ > 0) SKERRY_RETURN_IF_ERROR(ReadContent(buffer));
  return {};
}

// Called after one block of zeros. A second one and any number of zeros may follow.
base::Status TarReader::ReadEnd() {
  std::array<char, kSkipBytes> buffer;  // NOLINT: filled before it is read
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const std::size_t count, source_.Read(buffer));
    if (count == 0) return {};
    if (!std::ranges::all_of(std::span(buffer).first(count), [](char byte) { return byte == '\0'; }))
      return Bad("there is something else after the end of the archive; archives that were joined are not read here");
  }
}

base::Result<std::string> TarReader::ReadExtension(const TarHeader& header) {
  if (header.size > kMaxExtensionBytes) return Bad("the archive has an extended header of more than 1 MB");
  content_left_ = header.size;
  padding_left_ = PaddingOf(header.size);
  std::string text(static_cast<std::size_t>(header.size), '\0');
  for (std::size_t filled = 0; filled < text.size();) {
    SKERRY_ASSIGN_OR_RETURN(const std::size_t count, ReadContent(std::span(text).subspan(filled)));
    filled += count;
  }
  SKERRY_RETURN_IF_ERROR(SkipContent());
  return text;
}

// True when the header only describes the next entry.
base::Result<bool> TarReader::TakeExtension(const TarHeader& header, Extension& extension) {
  if (std::string_view("xgLKV").find(header.type) == std::string_view::npos) return false;
  SKERRY_ASSIGN_OR_RETURN(std::string text, ReadExtension(header));
  if (header.type == 'V') return true;  // the name of a tape
  if (header.type == 'x' || header.type == 'g') {
    SKERRY_ASSIGN_OR_RETURN(PaxRecords records, ParsePaxRecords(text));
    if (header.type == 'g') {
      if (records.path || records.link_path || records.size) return Bad("the archive gives one name to every entry");
      if (records.mtime) global_mtime_ = records.mtime;
      return true;
    }
    if (extension.pax) return Bad("the archive has two extended headers for one entry");
    extension.pax = std::move(records);
    return true;
  }
  std::optional<std::string>& name = header.type == 'L' ? extension.long_name : extension.long_link;
  if (name) return Bad("the archive gives two names to one entry");
  if (text.ends_with('\0')) text.pop_back();
  name = std::move(text);
  return true;
}

base::Result<TarEntry> TarReader::MakeEntry(const TarHeader& header, Extension extension) {
  PaxRecords pax = std::move(extension.pax).value_or(PaxRecords{});
  if ((pax.path && extension.long_name) || (pax.link_path && extension.long_link))
    return Bad("the archive gives two names to one entry");
  TarEntry entry{.path = pax.path.value_or(extension.long_name.value_or(header.name)),
                 .link_target = pax.link_path.value_or(extension.long_link.value_or(header.link_name)),
                 .size = pax.size.value_or(header.size),
                 .mode = header.mode,
                 .mtime = pax.mtime.value_or(global_mtime_.value_or(timespec{.tv_sec = header.mtime, .tv_nsec = 0}))};
  if (entry.path.empty()) return Bad("the archive has an entry without a name");
  if (entry.path.find('\0') != std::string::npos || entry.link_target.find('\0') != std::string::npos)
    return Bad("the archive has a name with a zero byte in it");
  SKERRY_ASSIGN_OR_RETURN(entry.kind, KindOf(header, entry.path));
  const bool is_link = entry.kind == EntryKind::kSymbolicLink || entry.kind == EntryKind::kHardLink;
  if (is_link && entry.link_target.empty()) return Bad(Quoted(entry.path) + " is a link to nothing");
  // Programs disagree on whether content follows for other kinds.
  if (entry.kind != EntryKind::kFile && entry.size != 0)
    return Bad(Quoted(entry.path) + " has content, but is not a file");
  if (entry.size > kMaxSize) return Bad(Quoted(entry.path) + " has a size that no file has");
  content_left_ = entry.size;
  padding_left_ = PaddingOf(entry.size);
  return entry;
}

base::Result<std::optional<TarEntry>> TarReader::Next() {
  SKERRY_RETURN_IF_ERROR(SkipContent());
  Extension extension;
  for (;;) {
    std::array<char, kTarBlockBytes> block{};
    SKERRY_ASSIGN_OR_RETURN(const bool there, ReadBlock(block));
    if (!there && !started_) return Bad("the archive is empty");
    if (!there) return CutOff();
    if (IsZeroBlock(block)) {
      if (extension.pax || extension.long_name || extension.long_link) return CutOff();
      SKERRY_RETURN_IF_ERROR(ReadEnd());
      return std::nullopt;
    }
    auto parsed = ParseTarHeader(block);
    if (!parsed && !started_) return Bad("this is not a tar archive, nor one compressed with gzip or zstd");
    SKERRY_ASSIGN_OR_RETURN(const TarHeader header, std::move(parsed));
    started_ = true;
    SKERRY_ASSIGN_OR_RETURN(const bool taken, TakeExtension(header, extension));
    if (taken) continue;
    SKERRY_ASSIGN_OR_RETURN(TarEntry entry, MakeEntry(header, std::move(extension)));
    return entry;
  }
}

}  // namespace skerry::archive
