// The Range header of a request for the bytes of a file (RFC 9110, 14.2).
#pragma once

#include <cstdint>
#include <string_view>

namespace skerry::transport::kit {

struct WantedBytes {
  enum class Kind {
    kWhole,  // the whole file; also for several ranges, and for a malformed header
    kPart,
    kNowhere,  // the file has no such bytes
  };
  Kind kind = Kind::kWhole;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;

  bool operator==(const WantedBytes&) const = default;
};

// The range in a file of `size` bytes: "bytes=a-b", "bytes=a-", "bytes=-n".
WantedBytes ParseRange(std::string_view header, std::uint64_t size);

}  // namespace skerry::transport::kit
