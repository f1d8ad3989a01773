// Which scope each node of a Python tree is in, which identifiers are mentions of a name, and which bind it.
#pragma once

#include <vector>

#include "policy/syntax_tree.hpp"
#include "policy/values.hpp"

namespace skerry::policy::python {

struct Scoping {
  std::vector<Scope> scope_of;   // by node: where its names are looked up
  std::vector<bool> is_mention;  // by node: an identifier that stands for its value
  std::vector<Scope> bound_in;   // by node: for an identifier that binds, the scope; only where is_binding
  std::vector<bool> is_binding;  // by node
};

// Fills `bindings` with every name that is bound somewhere.
Scoping FindScopes(const SyntaxTree& tree, Bindings& bindings);

}  // namespace skerry::policy::python
