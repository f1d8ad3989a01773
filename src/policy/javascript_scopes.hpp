// Which scope each node of a JavaScript tree is in, which identifiers are mentions of a name, and which bind it.
#pragma once

#include <vector>

#include "policy/identifiers.hpp"
#include "policy/syntax_tree.hpp"
#include "policy/values.hpp"

namespace skerry::policy::javascript {

struct Scoping {
  std::vector<Scope> scope_of;   // by node: where its names are looked up
  std::vector<bool> is_binding;  // by node: an identifier that declares its name, in bound_in
  std::vector<Scope> bound_in;   // by node
};

// Fills `bindings` with every name that is declared somewhere.
Scoping FindScopes(const SyntaxTree& tree, Spellings& spellings, Bindings& bindings);

}  // namespace skerry::policy::javascript
