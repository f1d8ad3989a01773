// Where the bytes of an archive come from (base/byte_source.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/byte_source.hpp"
#include "base/result.hpp"
#include "base/sha256.hpp"

namespace skerry::archive {

using base::ByteSource;

// Fills `buffer`; less only at the end.
base::Result<std::size_t> ReadFull(ByteSource& source, std::span<char> buffer);

// Reads a descriptor from its present position to its end.
class FileSource : public ByteSource {
 public:
  explicit FileSource(int fd) : fd_(fd) {}
  base::Result<std::size_t> Read(std::span<char> buffer) override;

 private:
  int fd_;
};

// Reads `length` bytes of a file from `offset` on; fewer when the file ends before. The descriptor's position is not
// used.
class RangeSource : public ByteSource {
 public:
  RangeSource(int fd, std::uint64_t offset, std::uint64_t length) : fd_(fd), offset_(offset), left_(length) {}
  base::Result<std::size_t> Read(std::span<char> buffer) override;

 private:
  int fd_;
  std::uint64_t offset_;
  std::uint64_t left_;
};

// Reads from memory. `bytes` is borrowed.
class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}
  base::Result<std::size_t> Read(std::span<char> buffer) override;

 private:
  std::string_view bytes_;
};

// Passes the bytes of another source on and keeps their digest.
class HashingSource : public ByteSource {
 public:
  explicit HashingSource(ByteSource& inner) : inner_(inner) {}
  base::Result<std::size_t> Read(std::span<char> buffer) override;
  // The digest of everything read so far. Called once.
  std::string FinishHex() { return hash_.FinishHex(); }

 private:
  ByteSource& inner_;
  base::Sha256 hash_;
};

}  // namespace skerry::archive
