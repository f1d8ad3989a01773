// What the expressions of a JavaScript tree are, as far as that can be told without running it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/identifiers.hpp"
#include "policy/javascript_scopes.hpp"
#include "policy/names.hpp"
#include "policy/syntax_tree.hpp"
#include "policy/values.hpp"

namespace skerry::policy::javascript {

class Evaluation {
 public:
  Evaluation(const SyntaxTree& tree, const Names& names);

  // Gives every node its value.
  void Run();

  [[nodiscard]] Value ValueOf(NodeId id) const { return values_[id]; }
  [[nodiscard]] const ValuePool& pool() const { return pool_; }
  [[nodiscard]] bool IsBinding(NodeId id) const { return scoping_.is_binding[id]; }
  // With kHole for what is not known, and for a literal that is very long; nothing when it is no text.
  [[nodiscard]] std::optional<std::string> TextOf(Value value) const;
  // Each of the texts that it can be. True when it can only be one of them.
  template <typename Visitor>
  bool ForEachText(Value value, Visitor&& visit) const {
    bool all = true;
    pool_.ForEach(value, [&](Value each) {
      const auto text = TextOf(each);
      if (text) visit(*text);
      all &= text && text->find(kHole) == std::string::npos;
    });
    return all;
  }
  // The same for a literal of any length.
  [[nodiscard]] std::string LiteralText(NodeId id) const;
  // `node:fs`, `fs` and `fs/promises` are the same here.
  [[nodiscard]] Value ModuleNamed(std::string_view name) const;
  [[nodiscard]] NodeId Argument(NodeId call, std::size_t place) const;
  [[nodiscard]] NodeId LastArgument(NodeId call) const;
  [[nodiscard]] bool IsRequire(Value function) const;
  [[nodiscard]] NameId Own(std::string_view name) const { return names_.Member(own_, name); }
  // Some function of this code or of the language.
  [[nodiscard]] Value AFunction() const { return {Value::Kind::kName, names_.Member(Own("Function"), "()")}; }
  // A name as JavaScript reads it, without escapes.
  [[nodiscard]] std::string_view Normal(std::string_view identifier) { return spellings_.Normal(identifier); }

 private:
  Value Evaluate(NodeId id);
  Value EvaluateString(NodeId id);
  [[nodiscard]] bool HasParts(NodeId literal) const;
  [[nodiscard]] std::string PartText(Value value) const;
  Value EvaluateIdentifier(NodeId id);
  Value EvaluateThis(NodeId id) const;
  Value EvaluateSubscript(NodeId id);
  Value EvaluateCall(NodeId id);
  Value EvaluateBinary(NodeId id);
  Value CallOfName(NodeId id, NameId function);
  Value CallOfMethod(NodeId id, NodeId function);
  Value CallOfReflection(NodeId id, NameId function);
  Value Joined(NodeId list, std::string_view between);
  Value MemberOf(Value object, std::string_view name);
  Value MembersNamed(Value object, Value names);
  void AssignPattern(NodeId target, Value value);
  // A pattern, what is taken apart by it, and how deep it is in another.
  struct Taking {
    NodeId pattern;
    Value value;
    int depth;
  };
  void AssignField(NodeId field, const Taking& whole, std::vector<Taking>& rest);
  void AssignAugmented(NodeId id);
  void AssignLoop(NodeId id);
  void AssignName(NodeId target, Value value);
  void AssignImport(NodeId id);

  const SyntaxTree& tree_;
  const Names& names_;
  NameId own_;
  HeldMemory memory_;
  ValuePool pool_;
  Spellings spellings_;
  Bindings bindings_;
  Scoping scoping_;
  std::vector<Value> values_;
  bool news_ = false;
};

}  // namespace skerry::policy::javascript
