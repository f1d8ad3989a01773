// The names that a language's table knows: dotted paths such as `os.system`, each with the rules that it breaks.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "policy/rule.hpp"

namespace skerry::policy {

// What code has to do with the name to break the rule.
enum class When : std::uint8_t {
  kImported,   // the module, or anything in it, is imported
  kUsed,       // the name is mentioned, whatever for; `x.*` is every member of x
  kHandedOn,   // the name itself is given to something that is not followed; with a rule or without
  kCalled,     // the name is called
  kMethod,     // a member of this name is called, on something that is not known; the path is one word
  kFunction,   // a member of this name is called, on whatever; the path is one word
  kMember,     // a member of this name is mentioned, on whatever; the path is one word
  kRunsShell,  // calling it runs its first argument as a shell command
  kRunsArgv,   // the same where the first argument can be a list of words
  kRunsCode,   // calling it runs its first argument as code of the same language
  kRunsTexts,  // calling it can run texts that stand anywhere in the program: examples, annotations, names
  kImports,    // calling it with a text imports the module of that name
  kAmbient,    // no rule: a module that is meant by its name even where nothing imports it
  kHarmless,   // no rule: importing the name breaks none either, and its methods are not those of something unknown
  kKnown,      // no rule: the analysis asks for it
  kSameAs,     // no rule: another path for the name that `rule.id` gives
};

// Several paths share a row, with blanks between them. A path's members are behind dots, what a call gives is `()`:
// `io.StringIO.()`.
struct NameRow {
  When when;
  std::string_view paths;
  Rule rule;
};

// For rows that only say when.
inline constexpr Rule kNoRule{};
// For rows of kSameAs: the path that theirs stand for.
constexpr Rule SameAs(std::string_view path) {
  return {.id = path};
}

using NameId = std::uint32_t;
inline constexpr NameId kNoName = 0;

class Names {
 public:
  explicit Names(std::span<const NameRow> rows);

  // A name that stands by itself: a module, or the root of the language's own names.
  [[nodiscard]] NameId Root(std::string_view name) const { return Member(kNoName, name); }
  // kNoName when the table has none.
  [[nodiscard]] NameId Member(NameId parent, std::string_view name) const;

  // The rules of all rows.
  [[nodiscard]] std::vector<const Rule*> Rules() const { return rules_; }
  [[nodiscard]] const Rule* RuleFor(NameId id, When when) const;
  [[nodiscard]] bool Has(NameId id, When when) const;
  // The name has members, or hands on something, that are grave: code that asks for a member of it by an unknown name
  // may get one of them.
  [[nodiscard]] bool HoldsGrave(NameId id) const { return entries_[id].holds_grave; }
  // The rule of a row of kMethod, kFunction or kMember; nullptr when there is none.
  [[nodiscard]] const Rule* RuleForWord(std::string_view word, When when) const;

 private:
  struct Entry {
    std::uint16_t whens = 0;  // a bit for each When
    NameId same_as = kNoName;
    bool holds_grave = false;  // one of its members is grave
    std::vector<std::pair<When, const Rule*>> rules;
  };
  struct Key {
    NameId parent;
    std::string_view name;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return std::hash<std::string_view>{}(key.name) ^ (key.parent * 0x9E3779B97F4A7C15U);
    }
  };
  NameId Add(std::string_view path);
  void SpreadWildcards();
  void MarkHolders();

  std::vector<const Rule*> rules_;
  std::vector<Entry> entries_ = {Entry{}};
  std::unordered_map<Key, NameId, Hash> members_;
  std::unordered_map<std::string_view, const Rule*> methods_;
  std::unordered_map<std::string_view, const Rule*> functions_;
  std::unordered_map<std::string_view, const Rule*> mentions_;
};

}  // namespace skerry::policy
