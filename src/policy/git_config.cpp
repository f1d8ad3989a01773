#include "policy/git_config.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <utility>

namespace skerry::policy {
namespace {

// Git before 2.40.1 renames sections by reading lines in pieces of 1024 bytes; the second piece could be a section.
constexpr std::size_t kLongestLine = 1000;

bool IsSpace(char c) {
  return c == ' ' || c == '\t';
}

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool IsKeyCharacter(char c) {
  return IsLetter(c) || (c >= '0' && c <= '9') || c == '-';
}

bool IsControl(char c) {
  return static_cast<unsigned char>(c) < 0x20U || c == '\x7F';
}

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// The text with '\n' at the end of every line, without a byte order mark.
std::optional<std::string> PlainLines(std::string_view text, GitReading reading) {
  const bool strict = reading == GitReading::kStrict;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::string plain;
  std::size_t line_start = 0;
  for (; !text.empty(); text.remove_prefix(1)) {
    if (text.starts_with("\r\n")) continue;
    const char c = text.front();
    if (strict && IsControl(c) && c != '\n' && c != '\t') return std::nullopt;
    plain += c;
    if (strict && plain.size() - line_start > kLongestLine) return std::nullopt;
    if (c == '\n') line_start = plain.size();
  }
  if (!plain.ends_with('\n')) plain += '\n';
  return plain;
}

// Parses as git's own parser does. Each step takes what it read off the front, and gives false where git gives up.
class Parser {
 public:
  explicit Parser(std::string_view lines) : rest_(lines) {}

  bool Run() {
    while (!rest_.empty()) {
      const char c = rest_.front();
      bool understood = true;
      if (c == '\n' || IsSpace(c)) {
        rest_.remove_prefix(1);
      } else if (c == '#' || c == ';') {
        SkipLine();
      } else {
        understood = c == '[' ? Header() : Entry();
      }
      if (!understood) return false;
    }
    return true;
  }

  std::vector<GitConfigEntry> TakeEntries() { return std::move(entries_); }

 private:
  // The end of the text is the end of a line too.
  char Take() {
    if (rest_.empty()) return '\n';
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  void SkipLine() { rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size())); }
  void SkipSpaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }

  std::string TakeName(std::string_view also) {
    std::string name;
    while (!rest_.empty() && (IsKeyCharacter(rest_.front()) || also.contains(rest_.front()))) name += Lower(Take());
    return name;
  }

  // [section]  [section.subsection]  [section "subsection"]
  bool Header() {
    Take();
    section_ = TakeName(".");
    if (section_.empty()) return false;
    if (!rest_.empty() && IsSpace(rest_.front())) {
      SkipSpaces();
      if (Take() != '"' || !Subsection()) return false;
    }
    return Take() == ']';
  }

  bool Subsection() {
    section_ += '.';
    for (char c = Take(); c != '"'; c = Take()) {
      if (c == '\\') c = Take();
      if (c == '\n') return false;
      section_ += c;
    }
    return true;
  }

  // name  name = value
  bool Entry() {
    if (section_.empty() || !IsLetter(rest_.front())) return false;
    GitConfigEntry entry{section_ + '.' + TakeName("")};
    SkipSpaces();
    const char c = Take();
    if (c == '=') {
      entry.value = Value();
      if (!entry.value) return false;
    } else if (c != '\n') {
      return false;
    }
    entries_.push_back(std::move(entry));
    return true;
  }

  std::optional<std::string> Value() {
    std::string value;
    std::size_t kept = 0;  // what follows is white space that may turn out to be the end of the value
    bool quoted = false;
    for (char c = Take(); c != '\n'; c = Take()) {
      if (!quoted && IsSpace(c)) {
        if (!value.empty()) value += c;
        continue;
      }
      if (!quoted && (c == '#' || c == ';')) {
        SkipLine();
        continue;
      }
      if (c == '"') {
        quoted = !quoted;
      } else if (c != '\\') {
        value += c;
      } else if (!Escape(value)) {
        return std::nullopt;
      }
      kept = value.size();
    }
    if (quoted) return std::nullopt;
    value.resize(kept);
    return value;
  }

  bool Escape(std::string& value) {
    constexpr std::string_view kWritten = "\\\"ntb";
    constexpr std::string_view kMeant = "\\\"\n\t\b";
    const char c = Take();
    if (c == '\n') return !rest_.empty();  // the value goes on in the next line
    const std::size_t which = kWritten.find(c);
    if (which == std::string_view::npos) return false;
    value += kMeant[which];
    return true;
  }

  std::string_view rest_;
  std::string section_;  // with its subsection
  std::vector<GitConfigEntry> entries_;
};

enum class Subsections { kNone, kOne, kAny };

// What the value of a harmless key has to be.
enum class ValueRule {
  kFree,    // git reads or shows the value, and does nothing else with it
  kName,    // git passes it as an argument to another git command: must not look like an option
  kRemote,  // an address, or a name that git replaces by an address
};

struct HarmlessKeys {
  std::string_view section;
  Subsections subsections;
  ValueRule rule;
  std::string_view names;  // between blanks; kEveryName for all
};

constexpr std::string_view kEveryName = "*";

// Keys that are left out although they look harmless: extensions.worktreeconfig (git reads a second file),
// gc.recentobjectshook, log.showsignature (starts gpg), branch.*.mergeoptions and pull.twohead (name a strategy, which
// is a program), submodule.*.update ("!program"), remote.*.vcs and .uploadpack, core.protectntfs and .protecthfs.
constexpr auto kHarmless = std::to_array<HarmlessKeys>({
    {"core", Subsections::kNone, ValueRule::kFree,
     "abbrev autocrlf bare bigfilethreshold checkstat commentchar commitgraph compression createobject "
     "deltabasecachelimit eol filemode filesreflocktimeout fsync fsyncmethod fsyncobjectfiles hidedotfiles ignorecase "
     "ignorestat logallrefupdates longpaths loosecompression multipackindex packedgitlimit packedgitwindowsize "
     "packedrefstimeout precomposeunicode preloadindex quotepath repositoryformatversion safecrlf sparsecheckout "
     "sparsecheckoutcone splitindex symlinks trustctime untrackedcache usereplacerefs warnambiguousrefs whitespace"},
    {"user", Subsections::kNone, ValueRule::kFree, "name email useconfigonly"},
    {"author", Subsections::kNone, ValueRule::kFree, "name email"},
    {"committer", Subsections::kNone, ValueRule::kFree, "name email"},
    {"extensions", Subsections::kNone, ValueRule::kFree, "objectformat refstorage noop preciousobjects"},
    {"extensions", Subsections::kNone, ValueRule::kRemote, "partialclone"},
    {"remote", Subsections::kOne, ValueRule::kFree,
     "tagopt prune prunetags mirror skipdefaultupdate skipfetchall promisor partialclonefilter gh-resolved"},
    {"remote", Subsections::kOne, ValueRule::kName, "fetch push"},
    {"remote", Subsections::kOne, ValueRule::kRemote, "url pushurl"},
    {"remote", Subsections::kNone, ValueRule::kRemote, "pushdefault"},
    {"branch", Subsections::kOne, ValueRule::kFree, "rebase description vscode-merge-base"},
    {"branch", Subsections::kOne, ValueRule::kName, "merge"},
    {"branch", Subsections::kOne, ValueRule::kRemote, "remote pushremote"},
    {"branch", Subsections::kNone, ValueRule::kFree, "autosetupmerge autosetuprebase sort"},
    {"submodule", Subsections::kOne, ValueRule::kFree, "active ignore fetchrecursesubmodules shallow"},
    {"submodule", Subsections::kOne, ValueRule::kName, "path branch"},
    {"submodule", Subsections::kOne, ValueRule::kRemote, "url"},
    {"submodule", Subsections::kNone, ValueRule::kFree, "active recurse fetchjobs propagatebranches"},
    {"init", Subsections::kNone, ValueRule::kName, "defaultbranch"},
    {"pull", Subsections::kNone, ValueRule::kFree, "rebase ff"},
    {"push", Subsections::kNone, ValueRule::kFree,
     "default autosetupremote followtags negotiate usebitmaps useforceifincludes"},
    {"fetch", Subsections::kNone, ValueRule::kFree,
     "all fsckobjects negotiationalgorithm output parallel prune prunetags recursesubmodules showforcedupdates "
     "unpacklimit writecommitgraph"},
    {"merge", Subsections::kNone, ValueRule::kFree,
     "autostash branchdesc conflictstyle defaulttoupstream directoryrenames ff log renamelimit renames renormalize "
     "stat verbosity"},
    {"rebase", Subsections::kNone, ValueRule::kFree,
     "abbreviatecommands autosquash autostash backend forkpoint missingcommitscheck stat updaterefs"},
    {"gc", Subsections::kNone, ValueRule::kFree,
     "aggressivedepth aggressivewindow auto autodetach autopacklimit bigpackthreshold cruftpacks logexpiry packrefs "
     "pruneexpire reflogexpire reflogexpireunreachable rerereresolved rerereunresolved worktreepruneexpire "
     "writecommitgraph"},
    {"pack", Subsections::kNone, ValueRule::kFree,
     "allowpackreuse compression deltacachelimit deltacachesize depth indexversion packsizelimit threads usebitmaps "
     "usesparse window windowmemory writebitmaphashcache writebitmaplookuptable writereverseindex"},
    {"diff", Subsections::kNone, ValueRule::kFree,
     "algorithm autorefreshindex colormoved colormovedws context ignoresubmodules indentheuristic interhunkcontext "
     "mnemonicprefix noprefix relative renamelimit renames statgraphwidth suppressblankempty wserrorhighlight"},
    {"log", Subsections::kNone, ValueRule::kFree, "abbrevcommit date decorate diffmerges follow mailmap showroot"},
    {"status", Subsections::kNone, ValueRule::kFree,
     "aheadbehind branch displaycommentprefix relativepaths renamelimit renames short showstash showuntrackedfiles"},
    {"commit", Subsections::kNone, ValueRule::kFree, "cleanup status verbose"},
    {"checkout", Subsections::kNone, ValueRule::kFree, "guess thresholdforparallelism workers"},
    {"index", Subsections::kNone, ValueRule::kFree,
     "recordendofindexentries recordoffsettable skiphash sparse threads version"},
    {"maintenance", Subsections::kNone, ValueRule::kFree, "auto strategy"},
    {"receive", Subsections::kNone, ValueRule::kFree, "denydeletes denynonfastforwards"},
    {"rerere", Subsections::kNone, ValueRule::kFree, "autoupdate enabled"},
    {"lfs", Subsections::kAny, ValueRule::kFree, "locksverify repositoryformatversion"},
    {"advice", Subsections::kNone, ValueRule::kFree, kEveryName},
    {"color", Subsections::kAny, ValueRule::kFree, kEveryName},
});

struct SplitKey {
  std::string_view section;
  std::optional<std::string_view> subsection;
  std::string_view name;
};

// Splits a key as git does: at the first dot and at the last one.
SplitKey Split(std::string_view key) {
  const std::size_t first = key.find('.');
  const std::size_t last = key.rfind('.');
  SplitKey split{key.substr(0, first), std::nullopt, key.substr(last + 1)};
  if (first != last) split.subsection = key.substr(first + 1, last - first - 1);
  return split;
}

bool Lists(const HarmlessKeys& row, const SplitKey& key) {
  if (row.section != key.section) return false;
  if (row.subsections == Subsections::kNone && key.subsection) return false;
  if (row.subsections == Subsections::kOne && !key.subsection) return false;
  if (row.names == kEveryName) return true;
  for (std::string_view rest = row.names; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == key.name) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

bool IsPlainName(std::string_view value) {
  return !value.starts_with('-') && std::ranges::none_of(value, IsControl);
}

// Git passes user and host to ssh as one argument, decoded; neither may look like an option.
bool IsPlainHost(std::string_view authority) {
  const std::size_t at = authority.rfind('@');
  const std::string_view host = at == std::string_view::npos ? authority : authority.substr(at + 1);
  const auto like_option = [](std::string_view text) { return text.starts_with('-') || text.starts_with('%'); };
  return !like_option(authority) && !like_option(host);
}

// An unknown scheme, and any "scheme::", is the name of a program: git-remote-<scheme>.
bool IsPlainRemote(std::string_view value) {
  constexpr auto kSchemes = std::to_array<std::string_view>({"https", "http", "ssh", "git", "file"});
  if (!IsPlainName(value)) return false;
  const std::size_t colon = value.find(':');
  if (colon == std::string_view::npos || value.find('/') < colon) return true;  // a path, or the name of a remote
  const std::string_view before = value.substr(0, colon);
  std::string_view after = value.substr(colon + 1);
  if (after.starts_with(':')) return false;
  if (!after.starts_with("//")) return !before.empty() && IsPlainHost(before);  // host:path
  after.remove_prefix(2);
  return std::ranges::find(kSchemes, before) != kSchemes.end() && IsPlainHost(after.substr(0, after.find('/')));
}

// A subsection is the name of a branch, a remote or a submodule, and git makes paths and arguments of those.
bool IsPlainSubsection(std::string_view subsection) {
  return IsPlainName(subsection) && !subsection.contains("..");
}

// The values of a key in their order: for most keys the last one wins.
using ValuesOfKeys = std::map<std::string, std::vector<std::optional<std::string>>, std::less<>>;

ValuesOfKeys ByKey(const std::vector<GitConfigEntry>& entries) {
  ValuesOfKeys values;
  for (const GitConfigEntry& entry : entries) values[entry.key].push_back(entry.value);
  return values;
}

}  // namespace

bool StartsNothing(const GitConfigEntry& entry) {
  const SplitKey key = Split(entry.key);
  if (key.subsection && !IsPlainSubsection(*key.subsection)) return false;
  const auto row = std::ranges::find_if(kHarmless, [&](const HarmlessKeys& keys) { return Lists(keys, key); });
  if (row == kHarmless.end()) return false;
  const std::string_view value = entry.value ? std::string_view(*entry.value) : std::string_view();
  switch (row->rule) {
    case ValueRule::kFree:
      return true;
    case ValueRule::kName:
      return IsPlainName(value);
    case ValueRule::kRemote:
      return IsPlainRemote(value);
  }
  return false;
}

std::optional<std::vector<GitConfigEntry>> ParseGitConfig(std::string_view text, GitReading reading) {
  const auto lines = PlainLines(text, reading);
  if (!lines) return std::nullopt;
  Parser parser(*lines);
  if (!parser.Run()) return std::nullopt;
  return parser.TakeEntries();
}

std::vector<std::string> ProgramStartingKeys(std::string_view text, std::string_view before) {
  if (text == before) return {};
  const auto entries = ParseGitConfig(text);
  if (!entries) return {std::string(kNotUnderstood)};
  ValuesOfKeys values = ByKey(*entries);
  const ValuesOfKeys old_values = ByKey(ParseGitConfig(before).value_or(std::vector<GitConfigEntry>()));
  std::vector<std::string> keys;
  for (const GitConfigEntry& entry : *entries) {
    if (StartsNothing(entry)) continue;
    const auto now = values.extract(entry.key);  // each key once
    if (now.empty()) continue;
    const auto old = old_values.find(entry.key);
    if (old == old_values.end() || old->second != now.mapped()) keys.push_back(entry.key);
  }
  return keys;
}

}  // namespace skerry::policy
