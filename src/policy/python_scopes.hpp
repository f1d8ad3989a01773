// Which scope each node of a Python tree is in, which identifiers are mentions of a name, and which bind it.
#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "policy/identifiers.hpp"
#include "policy/scoping.hpp"
#include "policy/syntax_tree.hpp"
#include "policy/values.hpp"

namespace skerry::policy::python {

struct Scoping : policy::Scoping {
  Scoping() = default;
  explicit Scoping(NodeId size) : policy::Scoping(size), is_mention(size, false) {}

  std::vector<bool> is_mention;                  // by node: an identifier that stands for its value
  std::unordered_set<std::string_view> methods;  // functions that classes of this code have
};

// Fills `bindings` with every name that is bound somewhere.
Scoping FindScopes(const SyntaxTree& tree, Spellings& spellings, Bindings& bindings);

}  // namespace skerry::policy::python
