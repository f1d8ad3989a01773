// What the expressions of a JavaScript tree are, as far as that can be told without running it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "policy/evaluator.hpp"
#include "policy/javascript_scopes.hpp"
#include "policy/names.hpp"
#include "policy/syntax_tree.hpp"
#include "policy/values.hpp"

namespace skerry::policy::javascript {

class Evaluation final : public Evaluator {
 public:
  Evaluation(const SyntaxTree& tree, const Names& names);

  // Gives every node its value.
  void Run() {
    EvaluateAll([this](NodeId id) { return Evaluate(id); });
  }

  [[nodiscard]] bool IsBinding(NodeId id) const { return scoping_.is_binding[id]; }
  // `node:fs`, `fs` and `fs/promises` are the same here.
  [[nodiscard]] Value ModuleNamed(std::string_view name) const;
  [[nodiscard]] NodeId Argument(NodeId call, std::size_t place) const;
  [[nodiscard]] NodeId LastArgument(NodeId call) const;
  [[nodiscard]] bool IsRequire(Value function) const;
  // The value of some function, of this code or of the language.
  [[nodiscard]] Value AFunction() const { return {Value::Kind::kName, names_.Member(Own("Function"), "()")}; }

 private:
  Value Evaluate(NodeId id);
  Value MemberOf(Value object, std::string_view name) override;
  [[nodiscard]] NodeId ExpressionIn(NodeId part) const override;
  void AppendPiece(std::uint8_t kind, std::string_view written, Literal& literal) const override;

  Value EvaluateIdentifier(NodeId id);
  Value EvaluateThis(NodeId id) const;
  Value EvaluateSubscript(NodeId id);
  Value EvaluateCall(NodeId id);
  Value EvaluateBinary(NodeId id);
  Value CallOfName(NodeId id, NameId function);
  Value CallOfMethod(NodeId id, NodeId function);
  Value CallOfReflection(NodeId id, NameId function);
  void AssignPattern(NodeId target, Value value);
  // A pattern, the value that it takes apart, and how deep the pattern is in another.
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

  Scoping scoping_;
};

}  // namespace skerry::policy::javascript
