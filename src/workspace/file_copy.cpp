#include "workspace/file_copy.hpp"

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "os/errno_error.hpp"

namespace skerry::workspace {
namespace {

constexpr std::size_t kBlock = std::size_t{128} << 10U;

// Reads until the buffer has `size` bytes or the file ends; -1 with errno.
ssize_t ReadFully(int fd, std::vector<char>& buffer, off_t at, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = ::pread(fd, buffer.data() + done, size - done, at + static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -1;
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return static_cast<ssize_t>(done);
}

base::Status WriteFully(int fd, std::string_view bytes, off_t at) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(fd, bytes.data(), bytes.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return os::ErrnoErr("cannot be written");
    bytes.remove_prefix(static_cast<std::size_t>(count));
    at += count;
  }
  return {};
}

std::size_t BlockOf(off_t begin, off_t end) {
  return static_cast<std::size_t>(std::min<off_t>(end - begin, static_cast<off_t>(kBlock)));
}

base::Status CopyByBuffer(int from, int to, off_t begin, off_t end, base::Sha256* hash) {
  std::vector<char> buffer(BlockOf(begin, end));
  while (begin < end) {
    const ssize_t count = ReadFully(from, buffer, begin, BlockOf(begin, end));
    if (count < 0) return os::ErrnoErr("cannot be read");
    if (count == 0) return base::Err(base::Code::kConflict, "became shorter while it was read");
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(count));
    if (hash != nullptr) hash->Update(bytes);
    SKERRY_RETURN_IF_ERROR(WriteFully(to, bytes, begin));
    begin += count;
  }
  return {};
}

// Copies in the kernel where it can (mostly on one file system), else through a buffer. The buffer also finds the real
// error.
base::Status CopyRange(int from, int to, off_t begin, off_t end, base::Sha256* hash) {
  if (hash != nullptr) return CopyByBuffer(from, to, begin, end, hash);
  off_t source = begin;
  off_t target = begin;
  while (source < end)
    if (::copy_file_range(from, &source, to, &target, static_cast<std::size_t>(end - source), 0) <= 0) break;
  return CopyByBuffer(from, to, source, end, nullptr);
}

struct Extent {
  off_t begin;
  off_t end;
};

// The next bytes from `at` on that are no hole; begin is `size` when there are none.
Extent NextExtent(int fd, off_t at, off_t size) {
  const off_t begin = ::lseek(fd, at, SEEK_DATA);
  if (begin < 0) return errno == ENXIO ? Extent{size, size} : Extent{at, size};  // holes are unknown: all is data
  const off_t end = ::lseek(fd, begin, SEEK_HOLE);
  return {std::min(begin, size), end < 0 ? size : std::min(end, size)};
}

void HashZeros(base::Sha256& hash, off_t count) {
  static constexpr std::array<char, 4096> kZeros{};
  for (; count > 0; count -= static_cast<off_t>(kZeros.size()))
    hash.Update({kZeros.data(), std::min(kZeros.size(), static_cast<std::size_t>(count))});
}

}  // namespace

base::Result<Copied> CopyContent(int from, int to, std::uint64_t size, std::uint64_t limit, Hashing hashing) {
  const auto all = static_cast<off_t>(size);
  std::optional<base::Sha256> hash;
  if (hashing == Hashing::kContent) hash.emplace();
  Copied copied;
  for (off_t at = 0; at < all;) {
    const auto [begin, end] = NextExtent(from, at, all);
    copied.written += static_cast<std::uint64_t>(end - (hash ? at : begin));
    if (copied.written > limit) return base::Err(base::Code::kTooLarge, "all changes together are too large");
    if (hash) HashZeros(*hash, begin - at);
    SKERRY_RETURN_IF_ERROR(CopyRange(from, to, begin, end, hash ? &*hash : nullptr));
    at = end;
  }
  if (::ftruncate(to, all) < 0) return os::ErrnoErr("cannot be written");
  if (hash) copied.sha256 = hash->FinishHex();
  return copied;
}

base::Result<base::Sha256::Digest> DigestOfData(int fd) {
  struct stat facts{};
  if (::fstat(fd, &facts) < 0) return os::ErrnoErr("cannot be read");
  if (!S_ISREG(facts.st_mode)) return base::Err(base::Code::kNotFound, "is no file");
  constexpr off_t kBlockBytes = 512;
  const bool whole = facts.st_blocks * kBlockBytes >= facts.st_size;  // most files: no need to look for holes
  base::Sha256 hash;
  std::vector<char> buffer(BlockOf(0, facts.st_size));
  for (off_t at = 0; at < facts.st_size;) {
    const Extent extent = whole ? Extent{0, facts.st_size} : NextExtent(fd, at, facts.st_size);
    const std::array bounds = {extent.begin, extent.end};
    hash.Update({reinterpret_cast<const char*>(bounds.data()), sizeof(bounds)});
    for (at = extent.begin; at < extent.end;) {
      const ssize_t count = ReadFully(fd, buffer, at, BlockOf(at, extent.end));
      if (count < 0) return os::ErrnoErr("cannot be read");
      if (count == 0) return base::Err(base::Code::kConflict, "became shorter while it was read");
      hash.Update({buffer.data(), static_cast<std::size_t>(count)});
      at += count;
    }
    at = extent.end;
  }
  return hash.Finish();
}

bool SameContent(int left, int right, std::uint64_t size) {
  const auto all = static_cast<off_t>(size);
  std::vector<char> left_block(kBlock);
  std::vector<char> right_block(kBlock);
  for (off_t at = 0; at < all;) {
    const ssize_t count = ReadFully(left, left_block, at, BlockOf(at, all));
    if (count <= 0 || ReadFully(right, right_block, at, BlockOf(at, all)) != count) return false;
    if (!std::equal(left_block.begin(), left_block.begin() + count, right_block.begin())) return false;
    at += count;
  }
  return true;
}

}  // namespace skerry::workspace
