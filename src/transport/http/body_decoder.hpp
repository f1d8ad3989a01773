// BodyDecoder: takes the content of a body out of the bytes that arrive, by length, by chunks or until the end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "transport/http/chunks.hpp"
#include "transport/http/forwarding.hpp"
#include "transport/http/read_buffer.hpp"
#include "transport/http/wire.hpp"

namespace skerry::transport::http {

class BodyDecoder {
 public:
  // For the body of a request.
  explicit BodyDecoder(const Framing& framing)
      : end_(framing.chunked ? End::kChunks : End::kLength), left_(framing.content_length.value_or(0)) {}
  // For the body of a program's answer.
  explicit BodyDecoder(const AnswerFraming& framing)
      : end_(framing.end), left_(framing.end == End::kLength ? framing.length : 0) {}

  // Whether the body is complete. Never for a body that ends with the connection.
  [[nodiscard]] bool done() const {
    if (end_ == End::kClose) return false;
    return end_ == End::kChunks ? chunks_.done() : left_ == 0;
  }
  // How much to read at once, at most `room`: nothing beyond a body of a known length.
  [[nodiscard]] std::size_t WorthReading(std::size_t room) const {
    return end_ == End::kLength ? static_cast<std::size_t>(std::min<std::uint64_t>(left_, room)) : room;
  }

  // Appends all content that is in `in`, and consumes it. Counts the pieces: a body may come in chunks of one byte.
  base::Status Take(ReadBuffer& in, std::string& content, std::size_t& pieces) {
    while (!in.empty() && !done()) {
      SKERRY_ASSIGN_OR_RETURN(const ChunkDecoder::Step step, Decode(in.view()));
      content += step.content;
      in.Consume(step.consumed);
      ++pieces;
    }
    return {};
  }

 private:
  using End = AnswerFraming::End;

  base::Result<ChunkDecoder::Step> Decode(std::string_view bytes) {
    if (end_ == End::kChunks) return chunks_.Decode(bytes);
    const auto take =
        end_ == End::kClose ? bytes.size() : static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
    left_ -= end_ == End::kClose ? 0 : take;
    return ChunkDecoder::Step{.consumed = take, .content = bytes.substr(0, take)};
  }

  End end_;
  std::uint64_t left_;
  ChunkDecoder chunks_;
};

}  // namespace skerry::transport::http
