// What the expressions of a Python tree are, as far as that can be told without running it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "policy/evaluator.hpp"
#include "policy/names.hpp"
#include "policy/python_scopes.hpp"
#include "policy/syntax_tree.hpp"
#include "policy/values.hpp"

namespace skerry::policy::python {

class Evaluation final : public Evaluator {
 public:
  Evaluation(const SyntaxTree& tree, const Names& names);

  // Gives every node its value.
  void Run() {
    EvaluateAll([this](NodeId id) { return Evaluate(id); });
  }

  [[nodiscard]] bool IsMention(NodeId id) const { return scoping_.is_mention[id]; }
  // The name of the table that a module is, with everything before its last dot taken into account.
  [[nodiscard]] Value ModuleNamed(std::string_view dotted) const;

  // The positional argument at this place, or the one of this name; kNoNode when there is none, or when it hides in a
  // `*` or `**`.
  [[nodiscard]] NodeId Argument(NodeId call, std::size_t place, std::string_view name) const;
  // Whether some arguments hide in a `*` or `**`.
  [[nodiscard]] bool HasSplat(NodeId call) const;

  // Whether the program has this module, however it came by it.
  [[nodiscard]] bool Mentions(NameId module) const { return mentioned_.contains(module); }

  // Whether a class of this code has a function of this name.
  [[nodiscard]] bool IsOwnMethod(std::string_view name) const { return scoping_.methods.contains(name); }

 private:
  Value Evaluate(NodeId id);
  Value MemberOf(Value object, std::string_view name) override;
  [[nodiscard]] NodeId ExpressionIn(NodeId part) const override;
  void AppendPiece(std::uint8_t kind, std::string_view written, Literal& literal) const override;

  Value EvaluateIdentifier(NodeId id);
  Value EvaluateAttribute(NodeId id);
  Value EvaluateSubscript(NodeId id);
  Value EvaluateCall(NodeId id);
  Value EvaluateBinary(NodeId id);
  Value EvaluateConcatenation(NodeId id);
  Value CallOfName(NodeId id, NameId function);
  Value CallOfMethod(NodeId id, NodeId function);
  Value ItemOf(Value object, Value key);
  Value EvaluateBinding(NodeId id);
  void AssignSum(NodeId id);
  Value GlobalName(std::string_view name, Scope scope, std::uint32_t at);
  void Assign(NodeId target, NodeId source);
  void AssignTo(NodeId target, Value value);
  void AssignImports(NodeId id);

  Scoping scoping_;
  std::vector<NameId> star_imports_;
  std::unordered_set<NameId> mentioned_;
};

}  // namespace skerry::policy::python
