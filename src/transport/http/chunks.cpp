#include "transport/http/chunks.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "transport/http/text.hpp"

namespace skerry::transport::http {
namespace {

constexpr std::size_t kMaxOverhead = std::size_t{4} << 10U;

std::unexpected<base::Error> Bad(const char* what) {
  return base::Err(base::Code::kInvalidArgument, what);
}

}  // namespace

base::Result<ChunkDecoder::Step> ChunkDecoder::Decode(std::string_view bytes) {
  if (bytes.empty() || done()) return Step{};
  if (state_ == State::kContent) {
    const std::size_t take = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
    left_ -= take;
    overhead_ = 0;
    if (left_ == 0) state_ = State::kContentEnd;
    return Step{.consumed = take, .content = bytes.substr(0, take)};
  }
  const std::size_t end = bytes.find('\n');
  const std::size_t take = std::min(end, bytes.size() - 1) + 1;
  overhead_ += take;
  if (overhead_ > kMaxOverhead) return Bad("too much around the chunks of the body");
  line_ += bytes.substr(0, take);
  if (end != std::string_view::npos) SKERRY_RETURN_IF_ERROR(TakeLine());
  return Step{.consumed = take};
}

base::Status ChunkDecoder::TakeLine() {
  if (!line_.ends_with("\r\n")) return Bad("a line of the body's chunks does not end with CR LF");
  line_.resize(line_.size() - 2);
  if (line_.find_first_of(std::string_view("\r\0", 2)) != std::string::npos)
    return Bad("a chunk with a control character");
  if (state_ == State::kSize) {
    SKERRY_RETURN_IF_ERROR(TakeSize());
  } else if (state_ == State::kContentEnd) {
    if (!line_.empty()) return Bad("a chunk is longer than it said");
    state_ = State::kSize;
  } else if (line_.empty()) {
    state_ = State::kDone;
  } else if (!IsToken(std::string_view(line_).substr(0, line_.find(':'))) || !line_.contains(':')) {
    return Bad("a trailer has no proper name");
  }
  line_.clear();
  return {};
}

base::Status ChunkDecoder::TakeSize() {
  const std::string_view digits = std::string_view(line_).substr(0, line_.find(';'));
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), left_, 16);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    return Bad("the size of a chunk is no hexadecimal number");
  state_ = left_ == 0 ? State::kTrailer : State::kContent;
  return {};
}

std::string ChunkOf(std::string_view content) {
  std::array<char, 20> size{};
  const char* end = std::to_chars(size.data(), size.data() + size.size(), content.size(), 16).ptr;
  std::string chunk(static_cast<const char*>(size.data()), end);
  return chunk.append("\r\n").append(content).append("\r\n");
}

}  // namespace skerry::transport::http
