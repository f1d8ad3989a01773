#include "text/search_glob.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/printable.hpp"

namespace skerry::text {
namespace {

constexpr std::size_t kMaxPatterns = 256;
constexpr std::size_t kMaxGlobBytes = 4096;

base::Error Malformed(std::string_view glob, std::string_view why) {
  return {base::Code::kInvalidArgument,
          "\"" + base::Printable(base::Excerpt(glob)) + "\" is not a pattern: " + std::string(why)};
}

// The place behind the set that begins at `at`; a '{' in a set is an ordinary character.
std::size_t BehindSet(std::string_view glob, std::size_t at) {
  std::size_t end = at + 1;
  if (end < glob.size() && (glob[end] == '!' || glob[end] == '^')) ++end;
  if (end < glob.size() && glob[end] == ']') ++end;
  while (end < glob.size() && glob[end] != ']') end += glob[end] == '\\' ? 2 : 1;
  return std::min(end + 1, glob.size());
}

struct Braces {
  std::size_t start = 0;
  std::size_t end = 0;  // behind the '}'
  std::vector<std::string_view> choices;
};

// Finds the first outermost pair of braces. False when a brace has no partner.
bool FindBraces(std::string_view glob, std::optional<Braces>& found) {
  std::size_t depth = 0;
  std::size_t choice = 0;
  Braces braces;
  for (std::size_t at = 0; at < glob.size();) {
    const char byte = glob[at];
    if (byte == '\\' || byte == '[') {
      at = byte == '\\' ? at + 2 : BehindSet(glob, at);
      continue;
    }
    if (byte == '}' && depth == 0) return false;
    if (byte == '{' && depth++ == 0) {
      braces.start = at;
      choice = at + 1;
    }
    if (depth == 1 && (byte == ',' || byte == '}')) {
      braces.choices.push_back(glob.substr(choice, at - choice));
      choice = at + 1;
    }
    ++at;
    if (byte == '}' && --depth == 0) {
      braces.end = at;
      found = std::move(braces);
      return true;
    }
  }
  return depth == 0;
}

base::Result<std::vector<std::string>> Expand(std::string_view glob) {
  std::vector<std::string> done;
  std::vector<std::string> waiting = {std::string(glob)};
  while (!waiting.empty()) {
    const std::string next = std::move(waiting.back());
    waiting.pop_back();
    std::optional<Braces> braces;
    if (!FindBraces(next, braces)) return std::unexpected(Malformed(glob, "a '{' or '}' is alone"));
    if (!braces) {
      done.push_back(next);
    } else {
      for (const std::string_view choice : braces->choices)
        waiting.push_back(next.substr(0, braces->start) + std::string(choice) + next.substr(braces->end));
    }
    if (done.size() + waiting.size() > kMaxPatterns)
      return std::unexpected(Malformed(glob, "it stands for more than 256 patterns"));
  }
  return done;
}

// The pattern relative to the directory that is searched, without "." and doubled slashes.
base::Result<std::string> Plain(std::string_view pattern) {
  const auto climbs = [&] {
    return base::Err(base::Code::kPathTraversal, "the pattern \"" + base::Printable(base::Excerpt(pattern)) +
                                                     "\" leads out of the directory that is searched");
  };
  if (pattern.starts_with('/')) return climbs();
  const bool any_depth = pattern.find('/') == std::string_view::npos;
  std::string plain;
  for (std::string_view rest = pattern; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    if (name == "..") return climbs();
    if (name.empty() || name == ".") continue;
    plain.append(plain.empty() ? "" : "/").append(name);
  }
  if (plain.empty()) return "**";
  return any_depth ? "**/" + plain : plain;
}

}  // namespace

base::Result<SearchGlob> SearchGlob::Make(std::string_view glob) {
  SearchGlob made;
  if (glob.empty()) return made;
  if (glob.size() > kMaxGlobBytes || glob.find('\0') != std::string_view::npos)
    return std::unexpected(Malformed(glob, "it is too long, or has a zero byte in it"));
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> expanded, Expand(glob));
  for (const std::string& pattern : expanded) {
    SKERRY_ASSIGN_OR_RETURN(std::string plain, Plain(pattern));
    made.patterns_.push_back(std::move(plain));
  }
  SKERRY_ASSIGN_OR_RETURN(made.below_, base::PathPatterns::Make(made.patterns_));
  return made;
}

bool SearchGlob::Matches(std::string_view path) const {
  return patterns_.empty() ||
         std::ranges::any_of(patterns_, [&](const std::string& pattern) { return base::GlobMatch(pattern, path); });
}

bool SearchGlob::MayMatchBelow(std::string_view directory) const {
  return patterns_.empty() || below_.MayMatchBelow(directory);
}

}  // namespace skerry::text
