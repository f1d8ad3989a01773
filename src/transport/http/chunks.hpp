// ChunkDecoder: decodes a body in chunks (RFC 9112, 7.1) piece by piece. Extensions and trailers are skipped, within
// limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace skerry::transport::http {

class ChunkDecoder {
 public:
  struct Step {
    std::size_t consumed = 0;
    std::string_view content;  // part of the consumed bytes
  };
  // Takes bytes from the beginning of `bytes`: one piece of content, or what stands between two of them. Consumes
  // nothing only for no bytes and when done. kInvalidArgument when the bytes are no chunks.
  base::Result<Step> Decode(std::string_view bytes);
  [[nodiscard]] bool done() const { return state_ == State::kDone; }

 private:
  enum class State { kSize, kContent, kContentEnd, kTrailer, kDone };
  base::Status TakeLine();
  base::Status TakeSize();

  State state_ = State::kSize;
  std::string line_;
  std::uint64_t left_ = 0;
  std::size_t overhead_ = 0;  // of size lines since the last content, and of all trailers
};

// Content as one chunk; "" for no content, since an empty chunk would be the last one.
std::string ChunkOf(std::string_view content);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace skerry::transport::http
