// One block of 512 bytes at the head of each entry of a tar archive: v7, ustar and GNU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.hpp"

namespace skerry::archive {

inline constexpr std::size_t kTarBlockBytes = 512;
using TarBlock = std::span<const char, kTarBlockBytes>;

struct TarHeader {
  char type = '0';
  std::string name;  // with the prefix of ustar
  std::string link_name;
  std::uint64_t size = 0;
  std::uint32_t mode = 0;  // 12 bits
  std::int64_t mtime = 0;  // seconds
};

bool IsZeroBlock(TarBlock block);

// Fails when the checksum is wrong or a number is none. Owner, group and device numbers are not looked at.
base::Result<TarHeader> ParseTarHeader(TarBlock block);

}  // namespace skerry::archive
