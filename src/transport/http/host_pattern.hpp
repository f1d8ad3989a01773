// HostPattern: one name of a host, or all names that differ in their first label. Pure.
//
//   api.example.test           this name
//   *.example.test             any one label in that place; not "example.test", not "a.b.example.test"
//   {port}-{id}.example.test   the same, of that form; its parts are given out by their names
//
// A part called `port` is a number from 1 to 65535. Any other part takes the rest of the label; of two such parts, the
// first takes as little as it can.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace skerry::transport::http {

class HostPattern {
 public:
  using Parts = std::map<std::string, std::string>;

  // kInvalidArgument: bad letters, more than one open label, an open label that is not the first, no fixed label, more
  // than two parts, two parts of one name or with nothing between them.
  static base::Result<HostPattern> Parse(std::string_view text);

  // `name` is in lower case, without a port (HostNameOf). Nothing when it does not match.
  [[nodiscard]] std::optional<Parts> Match(std::string_view name) const;

  [[nodiscard]] bool IsExact() const { return pieces_.empty(); }
  // How many letters of the first label are fixed; of two patterns that match, the one with more wins.
  [[nodiscard]] std::size_t fixed_letters() const;
  [[nodiscard]] std::vector<std::string> part_names() const;
  // Whether a name might match both. Only for patterns with as many fixed letters; in doubt true.
  [[nodiscard]] bool MayOverlap(const HostPattern& other) const;

 private:
  struct Piece {
    bool is_part = false;
    std::string text;  // fixed letters, or the name of the part; "" for "*"
  };
  static base::Result<std::vector<Piece>> ParseLabel(std::string_view label);
  static bool MatchPieces(const std::vector<Piece>& pieces, std::size_t from, std::string_view label, Parts& parts);

  std::vector<Piece> pieces_;  // of the first label; empty when that label is fixed too
  std::string rest_;           // the whole name, or what follows the first label with its dot
};

}  // namespace skerry::transport::http
