#include "policy/python_scopes.hpp"

#include "policy/python_syntax.hpp"

namespace skerry::policy::python {
namespace {

class Scopes {
 public:
  Scopes(const SyntaxTree& tree, Spellings& spellings, Bindings& bindings)
      : tree_(tree), spellings_(spellings), bindings_(bindings), result_(tree.size()), opens_(tree.size(), kNoScope) {}

  Scoping Find() {
    bindings_.AddScope(0, ScopeKind::kModule);
    for (NodeId id = 0; tree_.Reaches(id); ++id) Visit(id);
    return std::move(result_);
  }

 private:
  static constexpr Scope kNoScope = ~Scope{0};

  [[nodiscard]] std::string_view NameOf(NodeId id) const { return spellings_.Normal(tree_.TextOf(id)); }

  void Visit(NodeId id) {
    const Node& node = tree_[id];
    if (node.parent != kNoNode)
      result_.scope_of[id] = opens_[id] != kNoScope ? opens_[id] : result_.scope_of[node.parent];
    switch (node.kind) {
      case kIdentifier:
        result_.is_mention[id] = !result_.is_binding[id] && !IsLabel(id);
        break;
      case kFunction:
      case kLambda:
        return OpenFunction(id);
      case kClass:
        return OpenClass(id);
      case kListComprehension:
      case kSetComprehension:
      case kDictionaryComprehension:
      case kGenerator:
        return OpenComprehension(id);
      case kAssignment:
      case kAugmentedAssignment:
      case kFor:
      case kForInClause:
        return BindTarget(tree_.Child(id, kFieldLeft), result_.scope_of[id], SureFrom(id));
      case kNamedExpression:
        return BindTarget(tree_.Child(id, kFieldName), OutsideComprehensions(result_.scope_of[id]), Bindings::kNever);
      case kAsPatternTarget:
        BindTarget(tree_.FirstNamedChild(id), result_.scope_of[id], Bindings::kNever);
        // `except … as x` deletes x at its end.
        return IsOfExcept(id) ? Delete(id) : void();
      case kImport:
      case kImportFrom:
      case kImportFuture:
        return BindImports(id);
      case kGlobal:
      case kNonlocal:
        return Redirect(id, node.kind);
      case kDelete:
        return Delete(id);
      default:
        break;
    }
  }

  [[nodiscard]] bool IsOfExcept(NodeId target) const {
    const NodeId pattern = tree_[target].parent;
    const NodeId clause = pattern == kNoNode ? kNoNode : tree_[pattern].parent;
    return clause != kNoNode && tree_[clause].kind == kExceptClause;
  }

  // A name that is no value: of a member, an argument, or a part of an import.
  [[nodiscard]] bool IsLabel(NodeId id) const {
    const Node& node = tree_[id];
    if (node.parent == kNoNode) return false;
    switch (tree_[node.parent].kind) {
      case kAttribute:
        return node.field == kFieldAttribute;
      case kKeywordArgument:
        return node.field == kFieldName;
      case kDottedName:
      case kAliasedImport:
      case kGlobal:
      case kNonlocal:
        return true;
      case kKeywordPattern:
        return tree_.FirstNamedChild(node.parent) == id;
      default:
        return false;
    }
  }

  void OpenFunction(NodeId id) {
    const NodeId body = tree_.Child(id, kFieldBody);
    const Scope outer = result_.scope_of[id];
    const Scope inner = bindings_.Open(outer, ScopeKind::kFunction);
    if (body != kNoNode) opens_[body] = inner;
    const NodeId name = tree_[id].kind == kFunction ? tree_.Child(id, kFieldName) : kNoNode;
    BindTarget(name, outer, SureFrom(id));
    if (name != kNoNode && bindings_.KindOf(outer) == ScopeKind::kClass) result_.methods.insert(NameOf(name));
    const NodeId parameters = tree_.Child(id, kFieldParameters);
    if (parameters == kNoNode) return;
    for (NodeId each = tree_.FirstNamedChild(parameters); each != kNoNode; each = tree_.NextNamedSibling(each))
      BindParameter(each, inner);
  }

  void BindParameter(NodeId id, Scope scope) {
    switch (tree_[id].kind) {
      case kDefaultParameter:
      case kTypedDefaultParameter:
        return BindTarget(tree_.Child(id, kFieldName), scope, 0);
      case kTypedParameter:
        return BindTarget(tree_.FirstNamedChild(id), scope, 0);
      default:
        return BindTarget(id, scope, 0);
    }
  }

  void OpenClass(NodeId id) {
    const Scope outer = result_.scope_of[id];
    BindTarget(tree_.Child(id, kFieldName), outer, SureFrom(id));
    const NodeId body = tree_.Child(id, kFieldBody);
    if (body != kNoNode) opens_[body] = bindings_.Open(outer, ScopeKind::kClass);
  }

  void OpenComprehension(NodeId id) {
    const Scope inner = bindings_.Open(result_.scope_of[id], ScopeKind::kFunction);
    if (comprehensions_.size() <= inner) comprehensions_.resize(inner + 1);
    comprehensions_[inner] = inner != result_.scope_of[id];
    for (NodeId each = tree_.FirstChild(id); each != kNoNode; each = tree_.NextSibling(each)) opens_[each] = inner;
  }

  // A walrus in a comprehension binds outside of it.
  [[nodiscard]] Scope OutsideComprehensions(Scope scope) const {
    for (; scope < comprehensions_.size() && comprehensions_[scope]; scope = bindings_.Parent(scope))
      tree_.budget().Spend(kWorkOfAStep);
    return scope;
  }

  // A statement that stands directly in the module or the class surely runs before the statements after it.
  [[nodiscard]] std::uint32_t SureFrom(NodeId id) const {
    NodeId at = tree_[id].parent;
    while (at != kNoNode && (tree_[at].kind == kExpressionStatement || tree_[at].kind == kDecorated))
      at = tree_.Parent(at);
    if (at == kNoNode) return Bindings::kNever;
    const bool in_class =
        tree_[at].kind == kBlock && tree_[at].parent != kNoNode && tree_[tree_[at].parent].kind == kClass;
    const bool loops = tree_[id].kind == kFor || tree_[id].kind == kForInClause;
    return (tree_[at].kind == kModule || in_class) && !loops ? tree_[id].end : Bindings::kNever;
  }

  void BindTarget(NodeId target, Scope scope, std::uint32_t sure_from) {
    if (target == kNoNode) return;
    // Patterns hold patterns; everything else in them (members, items) binds no name.
    for (NodeId id = target; id < tree_[target].after;) {
      tree_.budget().Spend(kWorkOfAStep);
      switch (tree_[id].kind) {
        case kIdentifier:
          result_.Bind(id, scope);
          bindings_.Declare(scope, NameOf(id), sure_from);
          ++id;
          break;
        case kPatternList:
        case kTuplePattern:
        case kListPattern:
        case kListSplatPattern:
        case kDictionarySplatPattern:
        case kTuple:
        case kList:
          ++id;
          break;
        default:
          id = tree_[id].after;
      }
    }
  }

  void BindImports(NodeId id) {
    const NodeId module = tree_.Child(id, kFieldModuleName);
    for (NodeId each = tree_.FirstNamedChild(id); each != kNoNode; each = tree_.NextNamedSibling(each)) {
      if (each == module) continue;
      const Node& node = tree_[each];
      // `import a.b` binds a, `from x import b` binds b.
      const NodeId name = node.kind == kAliasedImport ? tree_.Child(each, kFieldAlias)
                          : node.kind == kDottedName  ? tree_.FirstNamedChild(each)
                                                      : kNoNode;
      BindTarget(name, result_.scope_of[id], SureFrom(id));
    }
  }

  void Redirect(NodeId id, std::uint8_t kind) {
    const Scope scope = result_.scope_of[id];
    for (NodeId each = tree_.FirstNamedChild(id); each != kNoNode; each = tree_.NextNamedSibling(each))
      bindings_.Redirect(scope, NameOf(each), kind == kGlobal ? 0 : bindings_.Parent(scope));
  }

  void Delete(NodeId id) {
    for (NodeId each = id + 1; each < tree_[id].after && tree_.budget().Spend(kWorkOfAStep); ++each)
      if (tree_[each].kind == kIdentifier) bindings_.Undeclare(result_.scope_of[id], NameOf(each));
  }

  const SyntaxTree& tree_;
  Spellings& spellings_;
  Bindings& bindings_;
  Scoping result_;
  std::vector<Scope> opens_;          // by node: the scope that begins with it
  std::vector<bool> comprehensions_;  // by scope
};

}  // namespace

Scoping FindScopes(const SyntaxTree& tree, Spellings& spellings, Bindings& bindings) {
  return Scopes(tree, spellings, bindings).Find();
}

}  // namespace skerry::policy::python
