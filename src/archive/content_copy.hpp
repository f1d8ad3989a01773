// The content of a file on its way into an archive.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "archive/byte_source.hpp"
#include "archive/entry_path.hpp"
#include "base/result.hpp"

namespace skerry::archive {

// Gives `take` exactly `size` bytes of `content`, piece by piece. kConflict when there are fewer.
template <class Take>
base::Status CopyContent(const std::string& path, std::uint64_t size, ByteSource& content, const Take& take) {
  constexpr std::size_t kPieceBytes = std::size_t{64} << 10U;
  std::vector<char> piece(static_cast<std::size_t>(std::min<std::uint64_t>(size, kPieceBytes)));
  for (std::uint64_t left = size; left > 0;) {
    const std::uint64_t wanted = std::min<std::uint64_t>(left, piece.size());
    SKERRY_ASSIGN_OR_RETURN(const std::size_t count,
                            content.Read(std::span(piece).first(static_cast<std::size_t>(wanted))));
    if (count == 0)
      return base::Err(base::Code::kConflict, QuotedPath(path) + " became shorter while it was read; try again");
    SKERRY_RETURN_IF_ERROR(take(std::string_view(piece.data(), count)));
    left -= count;
  }
  return {};
}

}  // namespace skerry::archive
