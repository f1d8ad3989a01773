#include "transport/http/host_pattern.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "transport/http/head_check.hpp"
#include "transport/http/text.hpp"

namespace skerry::transport::http {
namespace {

constexpr std::size_t kMostParts = 2;
constexpr std::string_view kPort = "port";

std::unexpected<base::Error> Bad(std::string_view text, const char* why) {
  return base::Err(base::Code::kInvalidArgument, "\"" + std::string(text) + "\" is no host pattern: " + why);
}

bool IsLabelLetter(char letter) {
  return IsLetterOrDigit(letter) || letter == '-' || letter == '_';
}

bool IsPortNumber(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port != 0 && text.front() != '0';
}

bool IsPart(std::string_view text, const std::string& name) {
  return !text.empty() && (name != kPort || IsPortNumber(text));
}

}  // namespace

base::Result<std::vector<HostPattern::Piece>> HostPattern::ParseLabel(std::string_view label) {
  std::vector<Piece> pieces;
  std::size_t parts = 0;
  for (std::string_view rest = label; !rest.empty();) {
    Piece piece{.is_part = rest.front() == '{' || rest.front() == '*'};
    std::size_t length = 1;
    if (rest.front() == '{') {
      length = rest.find('}') + 1;  // 0 when there is none
      if (length < 3) return Bad(label, "a part needs a name in braces");
      piece.text = rest.substr(1, length - 2);
      if (!std::ranges::all_of(piece.text, IsLabelLetter)) return Bad(label, "a part has no proper name");
      if (std::ranges::any_of(pieces, [&](const Piece& each) { return each.is_part && each.text == piece.text; }))
        return Bad(label, "two parts have one name");
    } else if (!piece.is_part) {
      length = std::min(rest.find_first_of("{*"), rest.size());
      piece.text = Lower(rest.substr(0, length));
      if (!std::ranges::all_of(piece.text, IsLabelLetter)) return Bad(label, "a letter that no host has");
    }
    if (piece.is_part && !pieces.empty() && pieces.back().is_part)
      return Bad(label, "nothing stands between two of its parts");
    if (piece.is_part && ++parts > kMostParts) return Bad(label, "it has more than two parts");
    pieces.push_back(std::move(piece));
    rest.remove_prefix(length);
  }
  return pieces;
}

base::Result<HostPattern> HostPattern::Parse(std::string_view text) {
  HostPattern pattern;
  const std::size_t dot = std::min(text.find('.'), text.size());
  const bool open = text.find_first_of("{*") != std::string_view::npos;
  if (open) {
    SKERRY_ASSIGN_OR_RETURN(pattern.pieces_, ParseLabel(text.substr(0, dot)));
    if (dot == text.size()) return Bad(text, "every name would match it");
  }
  // A letter stands for the open first label, so that the name can be checked.
  const std::string whole = open ? "a" + std::string(text.substr(dot)) : std::string(text);
  const auto name = HostNameOf(whole);
  if (!name || whole.contains(':') || whole.starts_with('.') || name->contains(".."))
    return Bad(text, "it is no name of a host");
  pattern.rest_ = open ? name->substr(1) : *name;
  if (open && std::ranges::none_of(pattern.pieces_, &Piece::is_part))
    return Bad(text, "only the first label may have parts");
  return pattern;
}

bool HostPattern::MatchPieces(const std::vector<Piece>& pieces, std::size_t from, std::string_view label,
                              Parts& parts) {
  if (from == pieces.size()) return label.empty();
  const Piece& piece = pieces[from];
  if (!piece.is_part)
    return label.starts_with(piece.text) && MatchPieces(pieces, from + 1, label.substr(piece.text.size()), parts);
  for (std::size_t length = 1; length <= label.size(); ++length) {
    if (!IsPart(label.substr(0, length), piece.text) || !MatchPieces(pieces, from + 1, label.substr(length), parts))
      continue;
    if (!piece.text.empty()) parts[piece.text] = label.substr(0, length);
    return true;
  }
  return false;
}

std::optional<HostPattern::Parts> HostPattern::Match(std::string_view name) const {
  Parts parts;
  if (IsExact()) return name == rest_ ? std::optional(std::move(parts)) : std::nullopt;
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos || name.substr(dot) != rest_) return std::nullopt;
  if (!MatchPieces(pieces_, 0, name.substr(0, dot), parts)) return std::nullopt;
  return parts;
}

std::size_t HostPattern::fixed_letters() const {
  std::size_t letters = 0;
  for (const Piece& piece : pieces_) letters += piece.is_part ? 0 : piece.text.size();
  return letters;
}

std::vector<std::string> HostPattern::part_names() const {
  std::vector<std::string> names;
  for (const Piece& piece : pieces_)
    if (piece.is_part && !piece.text.empty()) names.push_back(piece.text);
  return names;
}

bool HostPattern::MayOverlap(const HostPattern& other) const {
  if (rest_ != other.rest_ || IsExact() != other.IsExact()) return false;
  if (IsExact()) return true;
  const auto fixed = [](const Piece& piece) {
    return piece.is_part ? std::string_view() : std::string_view(piece.text);
  };
  const auto agree = [](std::string_view one, std::string_view two, auto begins) {
    return begins(one, two) || begins(two, one);
  };
  return agree(fixed(pieces_.front()), fixed(other.pieces_.front()),
               [](auto one, auto two) { return one.starts_with(two); }) &&
         agree(fixed(pieces_.back()), fixed(other.pieces_.back()),
               [](auto one, auto two) { return one.ends_with(two); });
}

}  // namespace skerry::transport::http
