// Reads a zip archive that lies in a file.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "archive/byte_source.hpp"
#include "archive/zip_directory.hpp"
#include "base/result.hpp"

namespace skerry::archive {

// The unpacked content of one entry. Never more than the entry's size, whatever the archive holds; an error at the end
// when there is less or more, or when the checksum is wrong.
class ZipContent : public ByteSource {
 public:
  // `fd` is borrowed.
  static base::Result<std::unique_ptr<ZipContent>> Open(int fd, const ZipEntry& entry);

  base::Result<std::size_t> Read(std::span<char> buffer) override;

 private:
  struct EndInflate {
    void operator()(z_stream* stream) const;
  };

  ZipContent(int fd, const ZipEntry& entry);
  base::Result<std::size_t> Inflate(std::span<char> buffer);
  base::Status CheckEnd();

  std::string name_;
  RangeSource raw_;
  std::unique_ptr<z_stream, EndInflate> stream_;  // null when it is stored
  std::vector<char> input_;
  bool ended_ = false;
  std::uint64_t left_;
  std::uint32_t expected_;
  std::uint32_t checksum_ = 0;
};

// Memory is bounded by the table of contents, of which 64 MB are read at most.
class ZipReader {
 public:
  // Makes all checks of zip_directory.hpp. `fd` is borrowed and has to outlive the reader; the archive is the whole
  // file.
  static base::Result<ZipReader> Open(int fd, std::size_t max_entries);

  // In the order of the table of contents. Never a kHardLink.
  [[nodiscard]] const std::vector<ZipEntry>& entries() const { return entries_; }
  [[nodiscard]] base::Result<std::unique_ptr<ZipContent>> Content(const ZipEntry& entry) const;
  // The target of a symbolic link: at most 4096 bytes, without a NUL.
  [[nodiscard]] base::Result<std::string> Target(const ZipEntry& entry) const;

 private:
  ZipReader(int fd, std::vector<ZipEntry> entries) : fd_(fd), entries_(std::move(entries)) {}

  int fd_;
  std::vector<ZipEntry> entries_;
};

}  // namespace skerry::archive
