#include "text/similar_place.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace skerry::text {
namespace {

constexpr std::size_t kBuckets = std::size_t{1} << 16U;
constexpr std::size_t kHeadBytes = 256;

// The pieces of a text, each `size` bytes long, as numbers that few other pieces share.
class Pieces {
 public:
  Pieces(std::string_view text, std::size_t size) : text_(text), size_(size) {}

  [[nodiscard]] std::size_t count() const { return text_.size() < size_ ? 0 : text_.size() - size_ + 1; }
  [[nodiscard]] std::size_t At(std::size_t at) const {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < size_; ++i) number = (number << 8U) | static_cast<unsigned char>(text_[at + i]);
    return (number * 0x9E3779B1U) >> 16U;
  }

 private:
  std::string_view text_;
  std::size_t size_;
};

struct Tally {
  std::uint32_t wanted = 0;
  std::uint32_t seen = 0;
};

struct Best {
  std::size_t at = 0;
  std::size_t score = 0;
};

Best BestWindow(const Pieces& text, const Pieces& wanted) {
  std::vector<Tally> tallies(kBuckets);
  for (std::size_t i = 0; i < wanted.count(); ++i) ++tallies[wanted.At(i)].wanted;
  Best best;
  std::size_t score = 0;
  for (std::size_t i = 0; i < text.count(); ++i) {
    Tally& entered = tallies[text.At(i)];
    if (++entered.seen <= entered.wanted) ++score;
    if (i >= wanted.count()) {
      Tally& left = tallies[text.At(i - wanted.count())];
      if (left.seen-- <= left.wanted) --score;
    }
    if (score > best.score) best = {i + 1 - std::min(i + 1, wanted.count()), score};
  }
  return best;
}

// The window is about right; the exact beginning of `wanted` is the place on which most pieces of its head agree.
std::size_t Aligned(const Pieces& text, const Pieces& wanted, std::size_t window) {
  const std::size_t head = std::min(wanted.count(), kHeadBytes);
  const std::size_t margin = kHeadBytes + wanted.count() / 4;
  const std::size_t first = window - std::min(window, margin);
  const std::size_t last = std::min(text.count(), window + margin + head);
  constexpr std::uint32_t kNowhere = 0;
  constexpr std::uint32_t kOften = ~0U;
  std::vector<std::uint32_t> place_of(kBuckets, kNowhere);  // place in the head, from 1 on
  for (std::uint32_t i = 0; i < head; ++i) {
    std::uint32_t& place = place_of[wanted.At(i)];
    place = place == kNowhere ? i + 1 : kOften;
  }
  std::vector<std::uint32_t> votes(last - first + kHeadBytes + 1);
  std::size_t winner = window + kHeadBytes - first;
  for (std::size_t at = first; at < last; ++at) {
    const std::uint32_t place = place_of[text.At(at)];
    if (place == kNowhere || place == kOften) continue;
    const std::size_t begin = at - first + kHeadBytes - (place - 1);
    if (++votes[begin] > votes[winner]) winner = begin;
  }
  const std::size_t begin = winner + first;
  return begin - std::min(begin, kHeadBytes);
}

}  // namespace

std::optional<std::size_t> FindSimilarPlace(std::string_view text, std::string_view wanted) {
  if (wanted.empty()) return std::nullopt;
  const std::size_t size = wanted.size() < 7 ? std::min<std::size_t>(wanted.size(), 2) : 3;
  const Pieces pieces(text, size);
  const Pieces wanted_pieces(wanted, size);
  const Best best = BestWindow(pieces, wanted_pieces);
  if (best.score == 0 || best.score * 5 < wanted_pieces.count() * 2) return std::nullopt;
  return Aligned(pieces, wanted_pieces, best.at);
}

}  // namespace skerry::text
