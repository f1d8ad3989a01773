// Where the names of a tree are looked up and bound: what the analyses of Python and of JavaScript have in common.
#pragma once

#include <vector>

#include "policy/syntax_tree.hpp"
#include "policy/values.hpp"

namespace skerry::policy {

// A row for each node.
struct Scoping {
  Scoping() = default;
  explicit Scoping(NodeId size) : scope_of(size, 0), is_binding(size, false), bound_in(size, 0) {}

  void Bind(NodeId identifier, Scope scope) {
    is_binding[identifier] = true;
    bound_in[identifier] = scope;
  }

  std::vector<Scope> scope_of;   // where the names in the node are looked up
  std::vector<bool> is_binding;  // the node is an identifier that binds its name, in bound_in
  std::vector<Scope> bound_in;
};

}  // namespace skerry::policy
