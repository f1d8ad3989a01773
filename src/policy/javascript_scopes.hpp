// Which scope each node of a JavaScript tree is in, which identifiers are mentions of a name, and which bind it.
#pragma once

#include "policy/identifiers.hpp"
#include "policy/scoping.hpp"
#include "policy/syntax_tree.hpp"
#include "policy/values.hpp"

namespace skerry::policy::javascript {

// Fills `bindings` with every name that is declared somewhere.
Scoping FindScopes(const SyntaxTree& tree, Spellings& spellings, Bindings& bindings);

}  // namespace skerry::policy::javascript
