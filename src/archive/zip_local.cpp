// The headers that stand before the content of each entry of a zip archive.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "archive/entry_path.hpp"
#include "archive/zip_directory.hpp"
#include "archive/zip_fields.hpp"
#include "archive/zip_format.hpp"

namespace skerry::archive {
namespace {

using zip::Damaged;

constexpr unsigned kFlagsThatMatter =
    zip::kEncrypted | zip::kHasDescriptor | zip::kPatch | zip::kStronglyEncrypted | zip::kUtf8Name | zip::kHiddenHeader;

std::unexpected<base::Error> Disagree(const ZipEntry& entry) {
  return Damaged("it says two different things about " + QuotedPath(entry.stored_name));
}

struct LocalSizes {
  std::uint32_t checksum = 0;
  std::uint64_t compressed = 0;
  std::uint64_t size = 0;
};

bool SizesAgree(const ZipEntry& entry, const LocalSizes& local) {
  const bool behind = (entry.flags & zip::kHasDescriptor) != 0;
  const auto agrees = [&](std::uint64_t here, std::uint64_t there) { return here == there || (behind && here == 0); };
  return agrees(local.checksum, entry.checksum) && agrees(local.compressed, entry.compressed) &&
         agrees(local.size, entry.size);
}

// Checks the header of an entry, and sets where its content begins.
base::Status CheckHeader(int fd, std::uint64_t limit, ZipEntry& entry) {
  if (entry.offset > limit || limit - entry.offset < zip::kLocalBytes)
    return Damaged(QuotedPath(entry.stored_name) + " lies outside of it");
  SKERRY_ASSIGN_OR_RETURN(const std::string fixed, zip::ReadAt(fd, entry.offset, zip::kLocalBytes));
  zip::Numbers numbers(fixed);
  if (numbers.Take32() != zip::kLocalSignature) return Damaged(QuotedPath(entry.stored_name) + " is not where it says");
  (void)numbers.Take16();  // the version that is needed to unpack
  const unsigned flags = numbers.Take16();
  const std::uint16_t method = numbers.Take16();
  (void)numbers.Take32();  // the time
  LocalSizes local{.checksum = numbers.Take32(), .compressed = numbers.Take32()};
  local.size = numbers.Take32();
  const std::size_t name_length = numbers.Take16();
  const std::size_t extra_length = numbers.Take16();
  if (((flags ^ entry.flags) & kFlagsThatMatter) != 0 || method != entry.method) return Disagree(entry);
  entry.content = entry.offset + zip::kLocalBytes + name_length + extra_length;
  if (entry.content > limit || limit - entry.content < entry.compressed)
    return Damaged(QuotedPath(entry.stored_name) + " lies outside of it");
  SKERRY_ASSIGN_OR_RETURN(const std::string variable,
                          zip::ReadAt(fd, entry.offset + zip::kLocalBytes, name_length + extra_length));
  if (std::string_view(variable).substr(0, name_length) != entry.stored_name) return Disagree(entry);
  SKERRY_ASSIGN_OR_RETURN(const auto wide,
                          zip::NumbersIn64(std::string_view(variable).substr(name_length), entry.stored_name));
  zip::Numbers wide_numbers(wide ? std::string_view(*wide) : std::string_view());
  if (wide && local.size == zip::kIn64) local.size = wide_numbers.Take64();
  if (wide && local.compressed == zip::kIn64) local.compressed = wide_numbers.Take64();
  if (!wide_numbers.ok() || !SizesAgree(entry, local)) return Disagree(entry);
  return {};
}

// The size of the record behind the content of an entry whose sizes were not known before: with or without a signature,
// with numbers of four or of eight bytes.
base::Result<std::uint64_t> DescriptorBytes(int fd, std::uint64_t limit, const ZipEntry& entry) {
  const std::uint64_t at = entry.content + entry.compressed;
  const std::string wide = zip::Four(entry.checksum) + zip::Eight(entry.compressed) + zip::Eight(entry.size);
  const std::string narrow = zip::Four(entry.checksum) + zip::Four(entry.compressed) + zip::Four(entry.size);
  const std::string signature = zip::Four(zip::kDescriptorSignature);
  const std::array forms = {signature + wide, signature + narrow, wide, narrow};
  const std::uint64_t there = std::min<std::uint64_t>(limit - at, forms.front().size());
  SKERRY_ASSIGN_OR_RETURN(const std::string bytes, zip::ReadAt(fd, at, static_cast<std::size_t>(there)));
  const auto* const form =
      std::ranges::find_if(forms, [&](const std::string& text) { return bytes.starts_with(text); });
  if (form == forms.end()) return Disagree(entry);
  return form->size();
}

struct Range {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  const ZipEntry* entry = nullptr;
};

}  // namespace

base::Status CheckLocalHeaders(int fd, ZipDirectory& directory) {
  std::vector<Range> ranges;
  ranges.reserve(directory.entries.size());
  for (ZipEntry& entry : directory.entries) {
    SKERRY_RETURN_IF_ERROR(CheckHeader(fd, directory.start, entry));
    std::uint64_t end = entry.content + entry.compressed;
    if ((entry.flags & zip::kHasDescriptor) != 0) {
      SKERRY_ASSIGN_OR_RETURN(const std::uint64_t bytes, DescriptorBytes(fd, directory.start, entry));
      end += bytes;
    }
    ranges.push_back({.start = entry.offset, .end = end, .entry = &entry});
  }
  std::ranges::sort(ranges, {}, &Range::start);
  for (std::size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].start < ranges[i - 1].end)
      return base::Err(base::Code::kInvalidArgument,
                       "the zip archive is refused: " + QuotedPath(ranges[i].entry->stored_name) + " and " +
                           QuotedPath(ranges[i - 1].entry->stored_name) + " overlap");
  return {};
}

}  // namespace skerry::archive
