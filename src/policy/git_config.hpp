// Git's configuration files as a weapon: dozens of keys name programs that git starts, and every version of git adds
// some. So the code asks the other way round: which entries are known to start nothing?
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skerry::policy {

struct GitConfigEntry {
  std::string key;                   // "core.bare", "remote.origin.url": section and name in lower case
  std::optional<std::string> value;  // nothing for a name without '=', which git takes as true

  bool operator==(const GitConfigEntry&) const = default;
};

enum class GitReading {
  kStrict,   // what a program wrote: no control characters, no lines so long that an older git reads them as two
  kAsGitIs,  // what a person wrote, and git understands
};

// The entries in their order. Nothing when any part of the text is not understood: what git itself refuses, and keys
// outside of a section.
std::optional<std::vector<GitConfigEntry>> ParseGitConfig(std::string_view text,
                                                          GitReading reading = GitReading::kStrict);

// Whether git is known to start nothing by this entry.
bool StartsNothing(const GitConfigEntry& entry);

// What ProgramStartingKeys gives in place of a key for a text that is not understood.
inline constexpr std::string_view kNotUnderstood = "(not understood)";

// The keys of `text` that are not known to be harmless, each once, except those that have the same values in the same
// order in `before`, the person's own file ("" when there was none). An entry that is gone is not reported: what is
// left is the person's own. A key may hold any characters but control characters; it is not printable as it is.
std::vector<std::string> ProgramStartingKeys(std::string_view text, std::string_view before);

}  // namespace skerry::policy
