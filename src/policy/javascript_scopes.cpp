#include "policy/javascript_scopes.hpp"

#include "policy/javascript_syntax.hpp"

namespace skerry::policy::javascript {
namespace {

class Scopes {
 public:
  Scopes(const SyntaxTree& tree, Spellings& spellings, Bindings& bindings)
      : tree_(tree), spellings_(spellings), bindings_(bindings), result_(tree.size()) {}

  Scoping Find() {
    bindings_.AddScope(0, ScopeKind::kModule);
    function_of_ = {0};
    for (NodeId id = 0; tree_.Reaches(id); ++id) Visit(id);
    return std::move(result_);
  }

 private:
  static bool IsFunction(std::uint8_t kind) {
    return kind == kFunctionDeclaration || kind == kFunctionExpression || kind == kGeneratorFunction ||
           kind == kGeneratorFunctionDeclaration || kind == kArrowFunction || kind == kMethodDefinition;
  }

  static bool IsBlock(std::uint8_t kind) {
    return kind == kStatementBlock || kind == kSwitchBody || kind == kForStatement || kind == kForInStatement ||
           kind == kCatchClause;
  }

  Scope Open(Scope parent, bool function) {
    const Scope scope = bindings_.Open(parent, ScopeKind::kFunction);
    if (scope != parent) function_of_.push_back(function ? scope : function_of_[parent]);
    return scope;
  }

  void Visit(NodeId id) {
    const Node& node = tree_[id];
    const Scope outer = node.parent == kNoNode ? 0 : result_.scope_of[node.parent];
    result_.scope_of[id] = outer;
    if (IsFunction(node.kind)) {
      result_.scope_of[id] = Open(outer, true);
      return OpenFunction(id, outer);
    }
    if (IsBlock(node.kind)) result_.scope_of[id] = Open(outer, false);
    switch (node.kind) {
      case kClassDeclaration:
      case kAbstractClassDeclaration:
        return Bind(tree_.Child(id, kFieldName), outer, 0);
      case kVariableDeclarator:
        return BindDeclarator(id, outer);
      case kForInStatement:
        return BindLoop(id);
      case kCatchClause:
        return Bind(tree_.Child(id, kFieldParameter), result_.scope_of[id], 0);
      case kImportClause:
      case kNamespaceImport:
      case kImportRequireClause:
        return BindDirect(id);
      case kImportSpecifier: {
        const NodeId alias = tree_.Child(id, kFieldAlias);
        return Bind(alias == kNoNode ? tree_.Child(id, kFieldName) : alias, outer, 0);
      }
      case kAssignmentExpression:
      case kAugmentedAssignmentExpression:
        return DeclareAssigned(tree_.Child(id, kFieldLeft));
      default:
        return;
    }
  }

  void OpenFunction(NodeId id, Scope outer) {
    const std::uint8_t kind = tree_[id].kind;
    const Scope inner = result_.scope_of[id];
    const NodeId name = tree_.Child(id, kFieldName);
    // Bound in the block of the declaration: in the whole function the name is visible only in some modes.
    if (kind == kFunctionDeclaration || kind == kGeneratorFunctionDeclaration) Bind(name, outer, 0);
    if (kind == kFunctionExpression || kind == kGeneratorFunction) Bind(name, inner, 0);
    Bind(tree_.Child(id, kFieldParameter), inner, 0);
    const NodeId parameters = tree_.Child(id, kFieldParameters);
    if (parameters == kNoNode) return;
    for (NodeId each = tree_.FirstNamedChild(parameters); each != kNoNode; each = tree_.NextNamedSibling(each)) {
      const bool typed = tree_[each].kind == kRequiredParameter || tree_[each].kind == kOptionalParameter;
      Bind(typed ? tree_.Child(each, kFieldPattern) : each, inner, 0);
    }
  }

  void BindDeclarator(NodeId id, Scope outer) {
    const NodeId declaration = tree_[id].parent;
    const bool is_var = declaration != kNoNode && tree_[declaration].kind == kVariableDeclaration;
    const Scope scope = is_var ? function_of_[outer] : outer;
    // `var eval;` in a script leaves the language's own eval in place.
    Bind(tree_.Child(id, kFieldName), scope, is_var && scope == 0 ? Bindings::kNever : 0);
  }

  // `for (const x of …)`; without a declaration it assigns.
  void BindLoop(NodeId id) {
    const NodeId left = tree_.Child(id, kFieldLeft);
    if (left != kNoNode) Bind(left, result_.scope_of[id], 0);
  }

  void BindDirect(NodeId id) {
    for (NodeId each = tree_.FirstNamedChild(id); each != kNoNode; each = tree_.NextNamedSibling(each))
      if (tree_[each].kind == kIdentifier) Bind(each, result_.scope_of[id], 0);
  }

  // A name that is assigned to but declared nowhere belongs to the whole program.
  void DeclareAssigned(NodeId target) {
    if (target != kNoNode && tree_[target].kind == kIdentifier)
      bindings_.Declare(0, spellings_.Normal(tree_.TextOf(target)), Bindings::kNever);
  }

  void Bind(NodeId target, Scope scope, std::uint32_t sure_from) {
    if (target == kNoNode) return;
    for (NodeId id = target; id < tree_[target].after;) {
      const Node& node = tree_[id];
      tree_.budget().Spend(kWorkOfAStep);
      // The default behind a pattern is a value.
      if (id != target && node.field == kFieldRight) {
        id = node.after;
        continue;
      }
      switch (node.kind) {
        case kIdentifier:
        case kShorthandPropertyIdentifierPattern:
          result_.Bind(id, scope);
          bindings_.Declare(scope, spellings_.Normal(tree_.TextOf(id)), sure_from);
          ++id;
          break;
        case kObjectPattern:
        case kArrayPattern:
        case kRestPattern:
        case kAssignmentPattern:
        case kObjectAssignmentPattern:
          ++id;
          break;
        case kPairPattern: {
          const NodeId value = tree_.Child(id, kFieldValue);
          id = value == kNoNode ? node.after : value;
          break;
        }
        default:
          id = node.after;
      }
    }
  }

  const SyntaxTree& tree_;
  Spellings& spellings_;
  Bindings& bindings_;
  Scoping result_;
  std::vector<Scope> function_of_;  // by scope: the function that it is in
};

}  // namespace

Scoping FindScopes(const SyntaxTree& tree, Spellings& spellings, Bindings& bindings) {
  return Scopes(tree, spellings, bindings).Find();
}

}  // namespace skerry::policy::javascript
