// Which scope each node of a Python tree is in, which identifiers are mentions of a name, and which bind it.
#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "policy/identifiers.hpp"
#include "policy/syntax_tree.hpp"
#include "policy/values.hpp"

namespace skerry::policy::python {

struct Scoping {
  std::vector<Scope> scope_of;   // by node: where its names are looked up
  std::vector<bool> is_mention;  // by node: an identifier that stands for its value
  std::vector<Scope> bound_in;   // by node: for an identifier that binds, the scope; only where is_binding
  std::vector<bool> is_binding;  // by node
  std::unordered_set<std::string_view> methods;  // functions that classes of this code have
};

// Fills `bindings` with every name that is bound somewhere.
Scoping FindScopes(const SyntaxTree& tree, Spellings& spellings, Bindings& bindings);

}  // namespace skerry::policy::python
