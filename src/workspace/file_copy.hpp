// The bytes of files, with their holes.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "base/sha256.hpp"

namespace skerry::workspace {

enum class Hashing { kNone, kContent };

struct Copied {
  std::uint64_t written = 0;  // bytes; holes are not, unless they had to be hashed
  std::string sha256;         // of all bytes, when hashing was asked for
};

// Copies the first `size` bytes of `from` into the empty file `to`. Holes stay holes. More than `limit` bytes are
// kTooLarge; with a hash, holes count like bytes: they take as long.
base::Result<Copied> CopyContent(int from, int to, std::uint64_t size, std::uint64_t limit, Hashing hashing);

// A digest of the bytes of a file and where they are. Holes are not read, so a long one costs nothing; a hole and zeros
// differ.
base::Result<base::Sha256::Digest> DigestOfData(int fd);

// Whether the first `size` bytes of both files are the same. False for a file that cannot be read.
bool SameContent(int left, int right, std::uint64_t size);

}  // namespace skerry::workspace
