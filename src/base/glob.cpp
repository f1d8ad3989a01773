#include "base/glob.hpp"

#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>

namespace skerry::base {
namespace {

constexpr std::string_view kAnyDirectories = "**";

// Gives the names between the slashes of a path or a pattern, one after the other.
class Names {
 public:
  explicit Names(std::string_view text) : rest_(text) {}

  bool Done() const { return done_; }
  std::string_view Front() const { return rest_.substr(0, rest_.find('/')); }
  void Pop() {
    const std::size_t slash = rest_.find('/');
    done_ = slash == std::string_view::npos;
    rest_.remove_prefix(done_ ? rest_.size() : slash + 1);
  }

 private:
  std::string_view rest_;
  bool done_ = false;
};

// The first character of UTF-8, or the first byte of anything else. Characters compare like their code points.
std::string_view FirstCharacter(std::string_view text) {
  constexpr std::size_t kLongest = 4;
  if (static_cast<unsigned char>(text.front()) < 0xC0U) return text.substr(0, 1);
  std::size_t length = 1;
  while (length < text.size() && length < kLongest && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) {
    ++length;
  }
  return text.substr(0, length);
}

// Takes one character, escaped or not, off the front.
std::optional<std::string_view> TakeCharacter(std::string_view& rest) {
  if (rest.starts_with('\\')) rest.remove_prefix(1);
  if (rest.empty()) return std::nullopt;
  const std::string_view character = FirstCharacter(rest);
  rest.remove_prefix(character.size());
  return character;
}

struct Range {
  std::string_view first;
  std::string_view last;
};

// Takes `a` or `a-z` off the front of what follows a '['.
std::optional<Range> TakeRange(std::string_view& rest) {
  if (rest.starts_with("[:") || rest.starts_with("[.") || rest.starts_with("[=")) return std::nullopt;
  const auto first = TakeCharacter(rest);
  if (!first) return std::nullopt;
  if (!rest.starts_with('-') || rest.starts_with("-]")) return Range{*first, *first};
  rest.remove_prefix(1);
  const auto last = TakeCharacter(rest);
  if (!last || *last < *first) return std::nullopt;
  return Range{*first, *last};
}

struct Step {
  bool matches = false;
  std::size_t length = 0;  // of the part of the pattern that was used
};

// `pattern` starts with '['. Nothing when the set is malformed.
std::optional<Step> MatchSet(std::string_view pattern, std::string_view character) {
  std::string_view rest = pattern.substr(1);
  const bool negated = rest.starts_with('!') || rest.starts_with('^');
  if (negated) rest.remove_prefix(1);
  bool contained = false;
  do {  // a ']' that comes first is a member
    const auto range = TakeRange(rest);
    if (!range) return std::nullopt;
    contained = contained || (range->first <= character && character <= range->last);
  } while (!rest.starts_with(']'));
  return Step{contained != negated, pattern.size() - rest.size() + 1};
}

// Compares one character with the front of a pattern that does not start with a star.
std::optional<Step> MatchCharacter(std::string_view pattern, std::string_view character) {
  if (pattern.starts_with('?')) return Step{true, 1};
  if (pattern.starts_with('[')) return MatchSet(pattern, character);
  std::string_view rest = pattern;
  const auto literal = TakeCharacter(rest);
  if (!literal) return std::nullopt;
  return Step{*literal == character, pattern.size() - rest.size()};
}

bool IsWellFormed(std::string_view name) {
  while (!name.empty()) {
    const auto step = name.starts_with('*') ? Step{true, 1} : MatchCharacter(name, "x");
    if (!step) return false;
    name.remove_prefix(step->length);
  }
  return true;
}

// It is enough to go back to the last star: what an earlier star could take in addition, the last one can take too. So
// the time does not grow with the number of stars.
bool NameMatches(std::string_view pattern, std::string_view name) {
  struct Star {
    std::string_view pattern;
    std::string_view name;
  };
  std::optional<Star> star;
  while (!name.empty()) {
    if (pattern.starts_with('*')) {
      pattern.remove_prefix(1);
      star = Star{pattern, name};
      continue;
    }
    const std::string_view character = FirstCharacter(name);
    const auto step = pattern.empty() ? Step{} : MatchCharacter(pattern, character);
    if (step && step->matches) {
      pattern.remove_prefix(step->length);
      name.remove_prefix(character.size());
      continue;
    }
    if (!star) return false;
    star->name.remove_prefix(FirstCharacter(star->name).size());
    pattern = star->pattern;
    name = star->name;
  }
  return pattern.find_first_not_of('*') == std::string_view::npos;
}

Error Malformed(const std::string& pattern, std::string_view why) {
  return {Code::kInvalidArgument, "\"" + pattern + "\" is not a pattern: " + std::string(why)};
}

// The pattern from the root on, without "." and doubled slashes.
Result<std::string> FromTheRoot(const std::string& pattern) {
  if (pattern.empty()) return std::unexpected(Malformed(pattern, "it is empty"));
  if (pattern.starts_with('/')) {
    return std::unexpected(Malformed(pattern, "it is absolute; write \"./name\" for the root of the workspace"));
  }
  std::string plain;
  for (Names names(pattern); !names.Done(); names.Pop()) {
    const std::string_view name = names.Front();
    if (name.empty() || name == ".") continue;
    if (name == "..") return std::unexpected(Malformed(pattern, "\"..\" leads out of the workspace"));
    if (!IsWellFormed(name)) return std::unexpected(Malformed(pattern, "unfinished or unknown '[...]' or '\\'"));
    plain.append(plain.empty() ? "" : "/").append(name);
  }
  if (plain.empty()) return std::string(kAnyDirectories);
  const std::size_t slash = pattern.find('/');
  const bool any_depth = slash == std::string::npos || pattern.find_first_not_of('/', slash) == std::string::npos;
  return any_depth ? std::string(kAnyDirectories) + "/" + plain : plain;
}

bool MayLeadTo(std::string_view pattern, std::string_view directory) {
  Names patterns(pattern);
  for (Names names(directory); !names.Done() && !patterns.Done(); names.Pop(), patterns.Pop()) {
    if (patterns.Front() == kAnyDirectories) return true;
    if (!NameMatches(patterns.Front(), names.Front())) return false;
  }
  return true;
}

}  // namespace

bool GlobMatch(std::string_view pattern, std::string_view path) {
  Names patterns(pattern);
  Names names(path);
  std::optional<std::pair<Names, Names>> after_directories;  // where to go on when the last "**" takes one more name
  while (!names.Done()) {
    if (!patterns.Done() && patterns.Front() == kAnyDirectories) {
      patterns.Pop();
      if (patterns.Done()) return true;
      after_directories.emplace(patterns, names);
    } else if (!patterns.Done() && NameMatches(patterns.Front(), names.Front())) {
      patterns.Pop();
      names.Pop();
    } else {
      if (!after_directories) return false;
      after_directories->second.Pop();
      std::tie(patterns, names) = *after_directories;
    }
  }
  return patterns.Done();
}

Result<PathPatterns> PathPatterns::Make(std::span<const std::string> patterns) {
  PathPatterns made;
  for (const std::string& pattern : patterns) {
    SKERRY_ASSIGN_OR_RETURN(std::string whole, FromTheRoot(pattern));
    std::string below = whole + "/" + std::string(kAnyDirectories);
    made.patterns_.push_back({std::move(whole), std::move(below)});
  }
  return made;
}

bool PathPatterns::Matches(std::string_view path) const {
  for (const Pattern& pattern : patterns_) {
    if (GlobMatch(pattern.whole, path) || GlobMatch(pattern.below, path)) return true;
  }
  return false;
}

bool PathPatterns::MayMatchBelow(std::string_view path) const {
  if (path.empty()) return !patterns_.empty();
  for (const Pattern& pattern : patterns_) {
    if (MayLeadTo(pattern.whole, path)) return true;
  }
  return false;
}

}  // namespace skerry::base
