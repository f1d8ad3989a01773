#include "workspace/line_pieces.hpp"

#include <algorithm>
#include <utility>

#include "workspace/content.hpp"

namespace skerry::workspace {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{64} << 10U;

}  // namespace

base::Status LinePieces::Fill() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  const std::size_t old_size = buffer_.size();
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(kBlockBytes, limit_ - read_));
  buffer_.resize(old_size + wanted);
  const auto count = ReadInto(fd_, read_, buffer_.data() + old_size, wanted);
  buffer_.resize(old_size + count.value_or(0));
  if (!count) return std::unexpected(count.error());
  read_ += *count;
  at_end_ = *count == 0;
  is_new_ = true;
  return {};
}

base::Result<std::string_view> LinePieces::Peek(std::size_t size) {
  while (buffer_.size() - begin_ < size && !at_end_) SKERRY_RETURN_IF_ERROR(Fill());
  return std::string_view(buffer_).substr(begin_, size);
}

std::string_view LinePieces::NewLines() {
  if (offset_ != 0 || !std::exchange(is_new_, false)) return {};
  const std::string_view there = std::string_view(buffer_).substr(begin_);
  return there.substr(0, there.find_last_of('\n') + 1);
}

void LinePieces::Skip(std::string_view lines) {
  begin_ += lines.size();
  line_ += static_cast<std::uint64_t>(std::ranges::count(lines, '\n'));
}

LinePiece LinePieces::Take(std::size_t size, End end) {
  LinePiece piece{.text = std::string_view(buffer_).substr(begin_, size),
                  .line = line_,
                  .offset = offset_,
                  .ends_line = end != End::kNone};
  begin_ += size + (end == End::kNewline ? 1 : 0);
  offset_ += size;
  if (!piece.ends_line) return piece;
  if (piece.text.ends_with('\r')) piece.text.remove_suffix(1);
  ++line_;
  offset_ = 0;
  return piece;
}

base::Result<bool> LinePieces::Next(LinePiece& piece) {
  for (;;) {
    const std::string_view there = std::string_view(buffer_).substr(begin_);
    const std::size_t end = there.substr(0, kMaxPiece + 1).find('\n');
    if (end != std::string_view::npos) {
      piece = Take(end, End::kNewline);
      return true;
    }
    if (there.size() > kMaxPiece) {
      piece = Take(kMaxPiece, End::kNone);
      return true;
    }
    if (at_end_) {
      if (there.empty()) return false;
      piece = Take(there.size(), End::kOfFile);
      return true;
    }
    SKERRY_RETURN_IF_ERROR(Fill());
  }
}

}  // namespace skerry::workspace
