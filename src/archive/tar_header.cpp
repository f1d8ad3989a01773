#include "archive/tar_header.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

namespace skerry::archive {
namespace {

using namespace std::string_view_literals;

struct Field {
  std::size_t offset;
  std::size_t length;
};

constexpr Field kName{0, 100};
constexpr Field kMode{100, 8};
constexpr Field kSize{124, 12};
constexpr Field kModified{136, 12};
constexpr Field kChecksum{148, 8};
constexpr std::size_t kType = 156;
constexpr Field kLinkName{157, 100};
constexpr Field kMagic{257, 6};
constexpr Field kPrefix{345, 155};

std::string_view Bytes(TarBlock block, Field field) {
  return {block.data() + field.offset, field.length};
}

// The text up to the first NUL; bytes behind it mean nothing.
std::string_view Text(TarBlock block, Field field) {
  const std::string_view bytes = Bytes(block, field);
  return bytes.substr(0, bytes.find('\0'));
}

std::unexpected<base::Error> BadNumber() {
  return base::Err(base::Code::kInvalidArgument, "the archive is damaged: a header has a number that is none");
}

// GNU: the first bit says that the number is binary, the second is its sign.
base::Result<std::int64_t> ParseBinary(std::string_view bytes) {
  const bool negative = (static_cast<unsigned char>(bytes.front()) & 0x40U) != 0;
  const unsigned flip = negative ? 0xFFU : 0U;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const unsigned byte = (static_cast<unsigned char>(bytes[i]) ^ flip) & (i == 0 ? 0x7FU : 0xFFU);
    if (value > (std::numeric_limits<std::uint64_t>::max() >> 9U)) return BadNumber();
    value = (value << 8U) | byte;
  }
  const auto magnitude = static_cast<std::int64_t>(value);
  return negative ? -magnitude - 1 : magnitude;
}

// Spaces, octal digits, then spaces or NULs to the end of the field. Empty is 0, as old programs wrote it.
base::Result<std::int64_t> ParseOctal(std::string_view bytes) {
  bytes.remove_prefix(std::min(bytes.find_first_not_of(' '), bytes.size()));
  const std::size_t digits = std::min(bytes.find_first_not_of("01234567"), bytes.size());
  std::int64_t value = 0;
  for (const char digit : bytes.substr(0, digits)) value = value * 8 + (digit - '0');  // 12 digits are 36 bits
  if (bytes.substr(digits).find_first_not_of("\0 "sv) != std::string_view::npos) return BadNumber();
  return value;
}

base::Result<std::int64_t> ParseNumber(std::string_view bytes) {
  const bool binary = (static_cast<unsigned char>(bytes.front()) & 0x80U) != 0;
  return binary ? ParseBinary(bytes) : ParseOctal(bytes);
}

// The sum of all bytes, with the checksum field itself taken as spaces.
bool ChecksumHolds(TarBlock block) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const bool own = i >= kChecksum.offset && i < kChecksum.offset + kChecksum.length;
    sum += own ? ' ' : static_cast<unsigned char>(block[i]);
  }
  const auto stored = ParseOctal(Bytes(block, kChecksum));
  return stored && *stored == sum;
}

std::string NameOf(TarBlock block) {
  const bool has_prefix = Bytes(block, kMagic) == "ustar\0"sv;
  const std::string_view prefix = has_prefix ? Text(block, kPrefix) : "";
  return prefix.empty() ? std::string(Text(block, kName)) : std::string(prefix) + "/" + std::string(Text(block, kName));
}

}  // namespace

bool IsZeroBlock(TarBlock block) {
  return std::ranges::all_of(block, [](char byte) { return byte == '\0'; });
}

base::Result<TarHeader> ParseTarHeader(TarBlock block) {
  if (!ChecksumHolds(block))
    return base::Err(base::Code::kInvalidArgument, "the archive is damaged: a header has a wrong checksum");
  TarHeader header{.type = block[kType], .name = NameOf(block), .link_name = std::string(Text(block, kLinkName))};
  SKERRY_ASSIGN_OR_RETURN(const std::int64_t size, ParseNumber(Bytes(block, kSize)));
  if (size < 0) return BadNumber();
  header.size = static_cast<std::uint64_t>(size);
  SKERRY_ASSIGN_OR_RETURN(const std::int64_t mode, ParseNumber(Bytes(block, kMode)));
  header.mode = static_cast<std::uint32_t>(mode & 07777);
  SKERRY_ASSIGN_OR_RETURN(header.mtime, ParseNumber(Bytes(block, kModified)));
  return header;
}

}  // namespace skerry::archive
