// What is known about the value of an expression without running it: which name of the table it is, or which text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "policy/budget.hpp"
#include "policy/names.hpp"
#include "policy/syntax_tree.hpp"

namespace skerry::policy {

struct Value {
  enum class Kind : std::uint8_t {
    kUnknown,
    kForeign,  // something that the table does not know and that is no object of its kinds either: another module
    kName,     // a name of the table; `id` is its NameId
    kText,     // `id` is its place in the pool
    kLiteral,  // a text that stands in the code; `id` is its node
    kMany,     // one of several; `id` is their place in the pool
  };
  Kind kind = Kind::kUnknown;
  std::uint32_t id = 0;

  bool operator==(const Value&) const = default;
};

// The name of the table; unknown for kNoName.
inline Value NameValue(NameId id) {
  return id == kNoName ? Value{} : Value{Value::Kind::kName, id};
}

// In a text: a part that is not known.
inline constexpr char kHole = '\x01';

// Keeps texts and sets of values. A text or set that would grow beyond the pool's bounds becomes unknown.
class ValuePool {
 public:
  explicit ValuePool(Budget& budget) : budget_(budget), memory_(budget) {}

  Value Text(std::string text);
  // A text of which nothing is known.
  static constexpr Value kSomeText{Value::Kind::kText, 0};
  [[nodiscard]] const std::string& TextAt(std::uint32_t id) const { return texts_[id]; }

  // One value that can be any of both; an unknown one is dropped unless both are unknown. Of many texts some become
  // kSomeText.
  Value Either(Value a, Value b);

  template <typename Visitor>
  void ForEach(Value value, Visitor&& visit) const {
    if (value.kind != Value::Kind::kMany) return visit(value);
    for (const Value each : sets_[value.id]) visit(each);
  }

 private:
  Budget& budget_;
  HeldMemory memory_;
  std::vector<std::string> texts_ = {std::string(1, kHole)};
  std::vector<std::vector<Value>> sets_;
  std::size_t bytes_ = 0;
};

using Scope = std::uint32_t;

enum class ScopeKind : std::uint8_t {
  kFunction,  // a name that is bound in the scope means that, everywhere in it
  kModule,    // before it is bound, and when it is bound under a condition, a name can mean what is outside
  kClass,     // the same, and functions in it do not see its names
};

// Which names are bound where, and to what. Names that are bound nowhere are the language's own.
class Bindings {
 public:
  Bindings(ValuePool& pool, Budget& budget) : pool_(pool), budget_(budget), memory_(budget) {}

  // The first scope is the outermost, and its own parent.
  Scope AddScope(Scope parent, ScopeKind kind);
  // The same for a scope of the code; deeper than any person writes, it is its parent, which can only add meanings.
  Scope Open(Scope parent, ScopeKind kind);
  [[nodiscard]] Scope Parent(Scope scope) const { return scopes_[scope].parent; }
  [[nodiscard]] ScopeKind KindOf(Scope scope) const { return scopes_[scope].kind; }

  // The name is bound in the scope. From `sure_from` on, in bytes of the code, it surely is: kNever when it may not be.
  static constexpr std::uint32_t kNever = ~0U;
  void Declare(Scope scope, std::string_view name, std::uint32_t sure_from);
  // From now on the name means what is outside again, perhaps.
  void Undeclare(Scope scope, std::string_view name);
  // `global x` and `nonlocal x`: binding the name in `scope` binds it in `to`.
  void Redirect(Scope scope, std::string_view name, Scope to);
  // Adds a value that the name can be bound to. True when the name was looked up before, with fewer values.
  bool Assign(Scope scope, std::string_view name, Value value);

  // The scope that binds the name which code in `scope` means; the outermost when none does.
  [[nodiscard]] Scope Declaring(Scope scope, std::string_view name);

  struct Found {
    Value value;
    bool may_be_outer = true;  // the name can be the language's own
  };
  [[nodiscard]] Found Lookup(Scope scope, std::string_view name, std::uint32_t at);

 private:
  struct Place {
    Scope parent;
    ScopeKind kind;
  };
  struct Binding {
    Value value;
    std::uint32_t sure_from = kNever;
    bool deleted = false;
    bool looked_up = false;
    std::optional<Scope> redirect;
  };
  struct Key {
    Scope scope;
    std::string_view name;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return std::hash<std::string_view>{}(key.name) ^ (key.scope * 0x9E3779B97F4A7C15U);
    }
  };
  Binding* Find(Scope scope, std::string_view name);
  Binding& At(Scope scope, std::string_view name);
  void CountBound(std::string_view name);

  ValuePool& pool_;
  Budget& budget_;
  HeldMemory memory_;
  std::vector<Place> scopes_;
  std::unordered_map<Key, Binding, Hash> bindings_;
  std::unordered_map<std::string_view, std::uint32_t> bound_;  // how often a name is bound anywhere
  std::size_t longest_ = 1;  // of the tables' lists: names can be chosen so that one of them holds all
};

}  // namespace skerry::policy
