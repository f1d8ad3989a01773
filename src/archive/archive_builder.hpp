// For tests: tar archives made byte by byte, also wrong ones, and their compressed forms.
#pragma once

#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "archive/tar_header.hpp"

namespace skerry::archive {

// A header field by field; what is not set is as `tar` would write it.
struct RawHeader {
  std::string name;
  char type = '0';
  std::uint64_t size = 0;
  unsigned mode = 0644;
  std::int64_t mtime = 1'600'000'000;
  std::string link;
  std::string prefix;
  std::string magic = std::string("ustar\0", 6) + "00";
  std::string size_field;  // instead of `size`
};

inline std::string Octal(std::uint64_t value, std::size_t width) {
  std::string digits(width - 1, '0');
  for (std::size_t i = digits.size(); i > 0; --i, value /= 8) digits[i - 1] = static_cast<char>('0' + value % 8);
  return digits + '\0';
}

inline std::string RawBlock(const RawHeader& header) {
  std::string block(kTarBlockBytes, '\0');
  const auto put = [&](std::size_t offset, std::string_view text) { block.replace(offset, text.size(), text); };
  put(0, std::string_view(header.name).substr(0, 100));
  put(100, Octal(header.mode, 8));
  put(108, Octal(0, 8));
  put(116, Octal(0, 8));
  put(124, header.size_field.empty() ? Octal(header.size, 12) : header.size_field);
  put(136, Octal(static_cast<std::uint64_t>(header.mtime), 12));
  put(148, "        ");
  block[156] = header.type;
  put(157, std::string_view(header.link).substr(0, 100));
  put(257, header.magic);
  put(345, header.prefix);
  std::uint64_t sum = 0;
  for (const char byte : block) sum += static_cast<unsigned char>(byte);
  put(148, Octal(sum, 7) + " ");
  return block;
}

inline std::string Padded(std::string content) {
  content.resize((content.size() + kTarBlockBytes - 1) / kTarBlockBytes * kTarBlockBytes);
  return content;
}

inline std::string PaxRecord(const std::string& key, const std::string& value) {
  const std::string rest = " " + key + "=" + value + "\n";
  std::size_t length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() != length) ++length;
  return std::to_string(length) + rest;
}

class ArchiveBuilder {
 public:
  ArchiveBuilder& Entry(RawHeader header, const std::string& content = "") {
    if (header.size == 0) header.size = content.size();
    bytes_ += RawBlock(header) + Padded(content);
    return *this;
  }
  ArchiveBuilder& File(const std::string& name, const std::string& content = "", unsigned mode = 0644) {
    return Entry({.name = name, .mode = mode}, content);
  }
  ArchiveBuilder& Directory(const std::string& name, unsigned mode = 0755) {
    return Entry({.name = name, .type = '5', .mode = mode});
  }
  ArchiveBuilder& Link(const std::string& name, const std::string& target) {
    return Entry({.name = name, .type = '2', .mode = 0777, .link = target});
  }
  ArchiveBuilder& HardLink(const std::string& name, const std::string& target) {
    return Entry({.name = name, .type = '1', .link = target});
  }
  ArchiveBuilder& Pax(const std::string& records, char type = 'x') {
    return Entry({.name = "PaxHeaders/x", .type = type}, records);
  }
  ArchiveBuilder& Gnu(char type, const std::string& text) {
    return Entry({.name = "././@LongLink", .type = type, .magic = std::string("ustar  \0", 8)}, text + '\0');
  }
  ArchiveBuilder& Raw(const std::string& bytes) {
    bytes_ += bytes;
    return *this;
  }

  [[nodiscard]] const std::string& WithoutEnd() const { return bytes_; }
  [[nodiscard]] std::string Build() const { return bytes_ + std::string(2 * kTarBlockBytes, '\0'); }

 private:
  std::string bytes_;
};

inline std::string Gzip(const std::string& bytes) {
  z_stream stream{};
  ::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
  std::string out(::deflateBound(&stream, bytes.size()) + 64, '\0');
  std::string input = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

inline std::string Zstd(const std::string& bytes) {
  std::string out(::ZSTD_compressBound(bytes.size()), '\0');
  out.resize(::ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  return out;
}

inline void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace skerry::archive
