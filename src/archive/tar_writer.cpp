#include "archive/tar_writer.hpp"

#include <algorithm>
#include <array>

#include "archive/content_copy.hpp"
#include "archive/tar_header.hpp"
#include "base/utf8.hpp"

namespace skerry::archive {
namespace {

constexpr std::size_t kNameBytes = 100;
constexpr std::uint64_t kLargestNumber = (std::uint64_t{1} << 33U) - 1;  // eleven octal digits

struct Header {
  char type = '0';
  std::string name;
  std::string link_name;
  std::uint64_t size = 0;
  std::uint32_t mode = 0;
  std::uint64_t mtime = 0;
};

std::string Octal(std::uint64_t value, std::size_t digits) {
  std::string text(digits, '0');
  for (std::size_t i = digits; i > 0; --i, value /= 8) text[i - 1] = static_cast<char>('0' + value % 8);
  return text;
}

std::string BlockOf(const Header& header) {
  std::string block(kTarBlockBytes, '\0');
  const auto put = [&](std::size_t offset, std::string_view text) { block.replace(offset, text.size(), text); };
  put(0, header.name);
  put(100, Octal(header.mode, 7));
  put(108, Octal(0, 7));
  put(116, Octal(0, 7));
  put(124, Octal(header.size, 11));
  put(136, Octal(header.mtime, 11));
  put(148, "        ");
  block[156] = header.type;
  put(157, header.link_name);
  put(257, "ustar");
  put(263, "00");
  std::uint64_t sum = 0;
  for (const char byte : block) sum += static_cast<unsigned char>(byte);
  put(148, Octal(sum, 6) + '\0');
  return block;
}

bool IsPlain(std::string_view text) {
  return std::ranges::all_of(text, [](char byte) { return byte >= ' ' && byte <= '~'; });
}

// The name for programs without pax: cut, and with '_' for each byte that is not plain.
std::string PlainName(std::string_view text) {
  std::string name(text.substr(0, kNameBytes));
  std::ranges::replace_if(name, [](char byte) { return byte < ' ' || byte > '~'; }, '_');
  return name;
}

// The number in front includes its own digits.
std::string PaxRecord(std::string_view key, std::string_view value) {
  const std::string rest = " " + std::string(key) + "=" + std::string(value) + "\n";
  std::size_t length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() != length) ++length;
  return std::to_string(length) + rest;
}

// In pax a negative time counts towards 0: one and a half seconds before 1970 is -1.5.
std::string PaxTime(const timespec& time) {
  constexpr long kBillion = 1'000'000'000;
  const bool borrow = time.tv_sec < 0 && time.tv_nsec > 0;
  const std::int64_t seconds = time.tv_sec + (borrow ? 1 : 0);
  const std::string digits = std::to_string(borrow ? kBillion - time.tv_nsec : time.tv_nsec);
  const std::string sign = time.tv_sec < 0 && seconds == 0 ? "-" : "";
  return sign + std::to_string(seconds) + "." + std::string(9 - digits.size(), '0') + digits;
}

std::uint64_t PlainTime(std::int64_t seconds) {
  return seconds < 0 ? 0 : std::min(static_cast<std::uint64_t>(seconds), kLargestNumber);
}

}  // namespace

base::Status TarWriter::WriteHeaders(const Member& member, const Heading& heading) {
  Header header{.type = heading.type,
                .name = PlainName(heading.path),
                .link_name = PlainName(heading.target),
                .size = std::min(heading.size, kLargestNumber),
                .mode = member.mode & 07777U,
                .mtime = PlainTime(member.mtime.tv_sec)};
  std::string pax;
  if (!base::IsValidUtf8(heading.path) || !base::IsValidUtf8(heading.target)) pax += PaxRecord("hdrcharset", "BINARY");
  if (heading.path.size() > kNameBytes || !IsPlain(heading.path)) pax += PaxRecord("path", heading.path);
  if (heading.target.size() > kNameBytes || !IsPlain(heading.target)) pax += PaxRecord("linkpath", heading.target);
  if (heading.size > kLargestNumber) pax += PaxRecord("size", std::to_string(heading.size));
  if (member.mtime.tv_nsec != 0 || static_cast<std::uint64_t>(member.mtime.tv_sec) != header.mtime)
    pax += PaxRecord("mtime", PaxTime(member.mtime));
  if (!pax.empty()) {
    const Header extension{.type = 'x', .name = "PaxHeaders/x", .size = pax.size(), .mode = 0644};
    SKERRY_RETURN_IF_ERROR(sink_.Write(BlockOf(extension)));
    SKERRY_RETURN_IF_ERROR(sink_.Write(pax));
    SKERRY_RETURN_IF_ERROR(WritePadding(pax.size()));
  }
  return sink_.Write(BlockOf(header));
}

base::Status TarWriter::WritePadding(std::uint64_t size) {
  static constexpr std::array<char, kTarBlockBytes> kZeros{};
  const std::size_t rest = size % kTarBlockBytes;
  if (rest == 0) return {};
  return sink_.Write({kZeros.data(), kTarBlockBytes - rest});
}

base::Status TarWriter::AddDirectory(const Member& member) {
  return WriteHeaders(member, {.type = '5', .path = member.path + "/"});
}

base::Status TarWriter::AddLink(const Member& member, std::string_view target) {
  return WriteHeaders(member, {.type = '2', .path = member.path, .target = target});
}

base::Status TarWriter::AddFile(const Member& member, std::uint64_t size, ByteSource& content) {
  SKERRY_RETURN_IF_ERROR(WriteHeaders(member, {.type = '0', .path = member.path, .size = size}));
  const auto write = [&](std::string_view piece) { return sink_.Write(piece); };
  SKERRY_RETURN_IF_ERROR(CopyContent(member.path, size, content, write));
  return WritePadding(size);
}

base::Status TarWriter::Finish() {
  return sink_.Write(std::string(2 * kTarBlockBytes, '\0'));
}

}  // namespace skerry::archive
