// What the expressions of a Python tree are, as far as that can be told without running it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "policy/identifiers.hpp"
#include "policy/names.hpp"
#include "policy/python_scopes.hpp"
#include "policy/syntax_tree.hpp"
#include "policy/values.hpp"

namespace skerry::policy::python {

class Evaluation {
 public:
  Evaluation(const SyntaxTree& tree, const Names& names);

  // Gives every node its value.
  void Run();

  [[nodiscard]] Value ValueOf(NodeId id) const { return values_[id]; }
  [[nodiscard]] const ValuePool& pool() const { return pool_; }
  [[nodiscard]] bool IsMention(NodeId id) const { return scoping_.is_mention[id]; }
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
  // The name of the table that a module is, with everything before its last dot taken into account.
  [[nodiscard]] Value ModuleNamed(std::string_view dotted) const;

  // The positional argument at this place, or the one of this name; kNoNode when there is none, or when it hides in a
  // `*` or `**`.
  [[nodiscard]] NodeId Argument(NodeId call, std::size_t place, std::string_view name) const;
  // Some arguments hide in a `*` or `**`.
  [[nodiscard]] bool HasSplat(NodeId call) const;

  // The program has this module, however it came by it.
  [[nodiscard]] bool Mentions(NameId module) const { return mentioned_.contains(module); }

  // An identifier as Python reads it: letters that only look different are the same.
  [[nodiscard]] std::string_view Normal(std::string_view identifier) { return spellings_.Normal(identifier); }
  // A class of this code has a function of this name.
  [[nodiscard]] bool IsOwnMethod(std::string_view name) const { return scoping_.methods.contains(name); }

 private:
  Value Evaluate(NodeId id);
  Value EvaluateString(NodeId id);
  [[nodiscard]] bool HasParts(NodeId literal) const;
  [[nodiscard]] std::string PartText(Value value) const;
  Value EvaluateIdentifier(NodeId id);
  Value EvaluateAttribute(NodeId id);
  Value EvaluateSubscript(NodeId id);
  Value EvaluateCall(NodeId id);
  Value EvaluateBinary(NodeId id);
  Value EvaluateConcatenation(NodeId id);
  Value CallOfName(NodeId id, NameId function);
  Value CallOfMethod(NodeId id, NodeId function);
  Value Member(Value object, std::string_view name);
  Value MembersNamed(Value object, Value names);
  Value ItemOf(Value object, Value key);
  Value EvaluateBinding(NodeId id);
  void AssignSum(NodeId id);
  Value GlobalName(std::string_view name, Scope scope, std::uint32_t at);
  void Assign(NodeId target, NodeId source);
  void AssignTo(NodeId target, Value value);
  void AssignImports(NodeId id);

  const SyntaxTree& tree_;
  const Names& names_;
  HeldMemory memory_;
  ValuePool pool_;
  Spellings spellings_;
  Bindings bindings_;
  Scoping scoping_;
  std::vector<Value> values_;
  std::vector<NameId> star_imports_;
  std::unordered_set<NameId> mentioned_;
  bool news_ = false;
};

}  // namespace skerry::policy::python
