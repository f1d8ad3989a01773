#include "policy/python_values.hpp"

#include <algorithm>

#include "policy/identifiers.hpp"
#include "policy/python_syntax.hpp"
#include "policy/texts.hpp"

namespace skerry::policy::python {
namespace {

constexpr std::uint64_t kWorkOfACall = 12 * kWorkOfALookup;  // a call asks for so many names

// Modules that are members of other modules: `shutil.os`, `random._os`.
NameId ModuleAsMember(const Names& names, std::string_view member) {
  if (member.starts_with('_') && !member.starts_with("__")) member.remove_prefix(1);
  if (member != "os" && member != "sys" && member != "subprocess" && member != "builtins") return kNoName;
  return names.Root(member);
}

}  // namespace

Evaluation::Evaluation(const SyntaxTree& tree, const Names& names)
    : Evaluator(tree, names, {.own = "builtins", .read = FoldLookalikes, .part = kInterpolation}),
      scoping_(FindScopes(tree, spellings_, bindings_)) {}

Value Evaluation::Evaluate(NodeId id) {
  switch (tree_[id].kind) {
    case kIdentifier:
      return EvaluateIdentifier(id);
    case kAttribute:
      return EvaluateAttribute(id);
    case kSubscript:
      return EvaluateSubscript(id);
    case kCall:
      return EvaluateCall(id);
    case kString:
      return EvaluateString(id);
    case kConcatenatedString:
      return EvaluateConcatenation(id);
    case kBinaryOperator:
      return EvaluateBinary(id);
    case kParenthesized:
    case kAwait: {
      const NodeId inner = tree_.FirstNamedChild(id);
      return inner == kNoNode ? Value{} : values_[inner];
    }
    case kConditional: {
      const NodeId yes = tree_.FirstNamedChild(id);
      const NodeId condition = yes == kNoNode ? kNoNode : tree_.NextNamedSibling(yes);
      const NodeId no = condition == kNoNode ? kNoNode : tree_.NextNamedSibling(condition);
      return no == kNoNode ? Value{} : pool_.Either(values_[yes], values_[no]);
    }
    case kBooleanOperator: {
      const NodeId left = tree_.Child(id, kFieldLeft);
      const NodeId right = tree_.Child(id, kFieldRight);
      return left == kNoNode || right == kNoNode ? Value{} : pool_.Either(values_[left], values_[right]);
    }
    default:
      return EvaluateBinding(id);
  }
}

// Statements that bind names.
Value Evaluation::EvaluateBinding(NodeId id) {
  const std::uint8_t kind = tree_[id].kind;
  switch (kind) {
    case kImport:
    case kImportFrom:
      AssignImports(id);
      return {};
    case kFunction:
      AssignTo(tree_.Child(id, kFieldName), {Value::Kind::kForeign, 0});
      return {};
    case kAugmentedAssignment:
      AssignSum(id);
      return {};
    case kAsPattern: {
      const NodeId value = tree_.FirstNamedChild(id);
      const NodeId target = tree_.Child(id, kFieldAlias);
      if (value != kNoNode && target != kNoNode) AssignTo(tree_.FirstNamedChild(target), values_[value]);
      return {};
    }
    case kAssignment:
    case kFor:
    case kForInClause:
    case kNamedExpression:
    case kDefaultParameter:
    case kTypedDefaultParameter:
      break;
    default:
      return {};
  }
  const bool named = kind == kNamedExpression || kind == kDefaultParameter || kind == kTypedDefaultParameter;
  const NodeId target = tree_.Child(id, named ? kFieldName : kFieldLeft);
  const NodeId source = tree_.Child(id, named ? kFieldValue : kFieldRight);
  if (target == kNoNode || source == kNoNode) return {};
  if (kind == kFor || kind == kForInClause) {
    // The variable can be each element of the list.
    const std::uint8_t list = tree_[source].kind;
    if (list != kTuple && list != kList && list != kSet && list != kExpressionList) return {};
    for (NodeId each = tree_.FirstNamedChild(source); each != kNoNode; each = tree_.NextNamedSibling(each))
      Assign(target, each);
    return {};
  }
  Assign(target, source);
  return values_[source];
}

// `x += y`, which may run once or many times.
void Evaluation::AssignSum(NodeId id) {
  const NodeId target = tree_.Child(id, kFieldLeft);
  const NodeId source = tree_.Child(id, kFieldRight);
  if (target == kNoNode || source == kNoNode || tree_[target].kind != kIdentifier) return;
  const Value before = GlobalName(Normal(tree_.TextOf(target)), scoping_.scope_of[target], tree_[target].begin);
  if (TextOf(before) || TextOf(values_[source])) AssignTo(target, ValuePool::kSomeText);
}

void Evaluation::AssignTo(NodeId target, Value value) {
  if (target == kNoNode || tree_[target].kind != kIdentifier || !scoping_.is_binding[target]) return;
  if (value.kind == Value::Kind::kUnknown) return;
  news_ |= bindings_.Assign(scoping_.bound_in[target], Normal(tree_.TextOf(target)), value);
}

// Element by element where both sides are lists of the same form.
void Evaluation::Assign(NodeId target, NodeId source) {
  const std::uint8_t kind = tree_[target].kind;
  if (kind != kPatternList && kind != kTuplePattern && kind != kListPattern) return AssignTo(target, values_[source]);
  NodeId left = tree_.FirstNamedChild(target);
  NodeId right = tree_.FirstNamedChild(source);
  for (; left != kNoNode && right != kNoNode;
       left = tree_.NextNamedSibling(left), right = tree_.NextNamedSibling(right))
    AssignTo(left, values_[right]);
}

void Evaluation::AssignImports(NodeId id) {
  const NodeId module = tree_.Child(id, kFieldModuleName);
  const Value from =
      module == kNoNode || tree_[module].kind != kDottedName ? Value{} : ModuleNamed(Normal(tree_.TextOf(module)));
  for (NodeId each = tree_.FirstNamedChild(id); each != kNoNode; each = tree_.NextNamedSibling(each)) {
    if (each == module) continue;
    const std::uint8_t kind = tree_[each].kind;
    if (kind == kWildcardImport && from.kind == Value::Kind::kName) {
      if (std::ranges::find(star_imports_, from.id) == star_imports_.end()) star_imports_.push_back(from.id);
      continue;
    }
    const NodeId name = kind == kAliasedImport ? tree_.Child(each, kFieldName) : each;
    if (name == kNoNode || tree_[name].kind != kDottedName) continue;
    const NodeId first = tree_.FirstNamedChild(name);
    const NodeId target = kind == kAliasedImport ? tree_.Child(each, kFieldAlias) : first;
    Value value;
    if (module != kNoNode) {
      value = MemberOf(from, Normal(tree_.TextOf(name)));
      if (value.kind == Value::Kind::kUnknown) value = NameValue(ModuleAsMember(names_, Normal(tree_.TextOf(name))));
    } else {
      // `import a.b` binds a, `import a.b as c` binds a.b.
      value = ModuleNamed(Normal(tree_.TextOf(kind == kAliasedImport ? name : first)));
    }
    if (value.kind == Value::Kind::kUnknown) value.kind = Value::Kind::kForeign;
    if (value.kind == Value::Kind::kName) mentioned_.insert(value.id);
    if (from.kind == Value::Kind::kName) mentioned_.insert(from.id);
    AssignTo(target, value);
  }
}

Value Evaluation::ModuleNamed(std::string_view dotted) const {
  NameId id = kNoName;
  while (!dotted.empty()) {
    const std::size_t dot = dotted.find('.');
    const NameId next = names_.Member(id, dotted.substr(0, dot));
    if (next == kNoName) return {Value::Kind::kForeign, 0};
    id = next;
    dotted = dot == std::string_view::npos ? std::string_view() : dotted.substr(dot + 1);
  }
  return NameValue(id);
}

Value Evaluation::GlobalName(std::string_view name, Scope scope, std::uint32_t at) {
  const Bindings::Found found = bindings_.Lookup(scope, name, at);
  tree_.budget().Spend((3 + star_imports_.size()) * kWorkOfALookup);
  Value value = found.value;
  if (!found.may_be_outer) return value.kind == Value::Kind::kUnknown ? Value{} : value;
  for (const NameId module : star_imports_) value = pool_.Either(value, NameValue(names_.Member(module, name)));
  return OwnOr(name, found.value, value);
}

Value Evaluation::EvaluateIdentifier(NodeId id) {
  if (!scoping_.is_mention[id]) return {};
  return GlobalName(Normal(tree_.TextOf(id)), scoping_.scope_of[id], tree_[id].begin);
}

Value Evaluation::MemberOf(Value object, std::string_view name) {
  Value result;
  pool_.ForEach(object, [&](Value each) {
    if (name == "__dict__" && each.kind != Value::Kind::kUnknown) {
      result = pool_.Either(result, each);
      return;
    }
    tree_.budget().Spend(2 * kWorkOfALookup);
    if (each.kind == Value::Kind::kForeign) result = pool_.Either(result, NameValue(ModuleAsMember(names_, name)));
    if (each.kind != Value::Kind::kName) return;
    NameId member = names_.Member(each.id, name);
    // The namespace of the running code also holds its modules.
    if (member == kNoName && each.id == own_) member = names_.Root(name);
    if (member == kNoName) member = ModuleAsMember(names_, name);
    result = pool_.Either(result, member == kNoName ? Value{Value::Kind::kForeign, 0} : NameValue(member));
  });
  return result;
}

Value Evaluation::EvaluateAttribute(NodeId id) {
  const NodeId object = tree_.Child(id, kFieldObject);
  const NodeId name = tree_.Child(id, kFieldAttribute);
  if (object == kNoNode || name == kNoNode) return {};
  return MemberOf(values_[object], Normal(tree_.TextOf(name)));
}

Value Evaluation::EvaluateSubscript(NodeId id) {
  const NodeId object = tree_.Child(id, kFieldValue);
  const NodeId index = tree_.Child(id, kFieldSubscript);
  if (object == kNoNode || index == kNoNode) return {};
  if (tree_[index].kind == kSlice) {
    const auto text = TextOf(values_[object]);
    const bool reversed = text && tree_.TextOf(index) == "::-1";
    return reversed ? pool_.Text(std::string(text->rbegin(), text->rend())) : Value{};
  }
  return ItemOf(values_[object], values_[index]);
}

// An item of a module's table, or of the table of modules.
Value Evaluation::ItemOf(Value object, Value key) {
  if (object != NameValue(names_.Member(names_.Root("sys"), "modules"))) return MembersNamed(object, key);
  Value result;
  ForEachText(key, [&](const std::string& name) { result = pool_.Either(result, ModuleNamed(name)); });
  return result;
}

Value Evaluation::EvaluateBinary(NodeId id) {
  const NodeId left = tree_.Child(id, kFieldLeft);
  const NodeId right = tree_.Child(id, kFieldRight);
  const NodeId sign = tree_.Child(id, kFieldOperator);
  if (left == kNoNode || right == kNoNode || sign == kNoNode) return {};
  // A path joined with another one stays a path.
  if (tree_[sign].kind == kSlash && values_[left].kind == Value::Kind::kName) return values_[left];
  const auto before = TextOf(values_[left]);
  if (tree_[sign].kind == kPercent) return before ? pool_.Text(WithHoles(*before, '%')) : Value{};
  if (tree_[sign].kind != kPlus) return {};
  return Sum(before, TextOf(values_[right]));
}

Value Evaluation::EvaluateConcatenation(NodeId id) {
  std::string whole;
  for (NodeId each = tree_.FirstNamedChild(id); each != kNoNode; each = tree_.NextNamedSibling(each)) {
    whole += TextOf(values_[each]).value_or(kUnknownText);
    if (whole.size() > kMaxText) return {};
  }
  return pool_.Text(std::move(whole));
}

Value Evaluation::EvaluateCall(NodeId id) {
  const NodeId function = tree_.Child(id, kFieldFunction);
  if (function == kNoNode) return {};
  Value result;
  pool_.ForEach(values_[function], [&](Value each) {
    if (each.kind == Value::Kind::kName) result = pool_.Either(result, CallOfName(id, each.id));
  });
  if (result.kind == Value::Kind::kUnknown && tree_[function].kind == kAttribute) result = CallOfMethod(id, function);
  return result;
}

Value Evaluation::CallOfName(NodeId id, NameId function) {
  tree_.budget().Spend(kWorkOfACall);
  const auto is = [&](std::string_view root, std::string_view member) {
    return function == names_.Member(names_.Root(root), member);
  };
  const NodeId first = Argument(id, 0, "");
  const auto text = first == kNoNode ? std::nullopt : TextOf(values_[first]);
  if (is("builtins", "__import__") || is("importlib", "import_module"))
    return first == kNoNode ? Value{} : ItemOf(NameValue(names_.Member(names_.Root("sys"), "modules")), values_[first]);
  if (is("builtins", "getattr")) {
    const NodeId name = Argument(id, 1, "");
    return name != kNoNode && first != kNoNode ? MembersNamed(values_[first], values_[name]) : Value{};
  }
  if (is("builtins", "vars") && first != kNoNode) return values_[first];
  if (is("builtins", "chr") && first != kNoNode) return pool_.Text(CharacterNumbered(tree_.TextOf(first)));
  if (is("base64", "b64decode") && text) return pool_.Text(FromBase64(*text));
  return NameValue(names_.Member(function, "()"));
}

// Methods of texts, and of the tables of names.
Value Evaluation::CallOfMethod(NodeId id, NodeId function) {
  const NodeId object = tree_.Child(function, kFieldObject);
  const NodeId method = tree_.Child(function, kFieldAttribute);
  if (object == kNoNode || method == kNoNode) return {};
  const std::string_view name = tree_.TextOf(method);
  const NodeId first = Argument(id, 0, "");
  if (name == "fromhex" && first != kNoNode) {
    const auto hex = TextOf(values_[first]);
    return hex ? pool_.Text(FromHex(*hex)) : Value{};
  }
  const auto text = TextOf(values_[object]);
  if (!text) {
    const bool takes_item = name == "get" || name == "pop" || name == "setdefault" || name == "__getitem__";
    return takes_item && first != kNoNode ? ItemOf(values_[object], values_[first]) : Value{};
  }
  if (name == "format") return pool_.Text(WithHoles(*text, '{'));
  if (name == "decode" || name == "encode" || name == "strip" || name == "lower") return values_[object];
  if (name == "join" && first != kNoNode && (tree_[first].kind == kList || tree_[first].kind == kTuple))
    return Joined(first, *text);
  return pool_.Text(kUnknownText);
}

NodeId Evaluation::ExpressionIn(NodeId part) const {
  return tree_.Child(part, kFieldExpression);
}

void Evaluation::AppendPiece(std::uint8_t kind, std::string_view written, Literal& literal) const {
  if (kind == kStringStart) literal.raw = written.find_first_of("rR") != std::string_view::npos;
  if (kind != kStringContent) return;
  tree_.budget().Spend(WorkOfReading(written.size()));
  literal.text += literal.raw ? std::string(written) : Unescaped(written);
}

NodeId Evaluation::Argument(NodeId call, std::size_t place, std::string_view name) const {
  const NodeId list = tree_.Child(call, kFieldArguments);
  if (list == kNoNode) return kNoNode;
  std::size_t at = 0;
  for (NodeId each = tree_.FirstNamedChild(list); each != kNoNode; each = tree_.NextNamedSibling(each)) {
    const std::uint8_t kind = tree_[each].kind;
    if (kind == kComment) continue;
    if (kind == kKeywordArgument) {
      const NodeId label = tree_.Child(each, kFieldName);
      if (!name.empty() && label != kNoNode && tree_.TextOf(label) == name) return tree_.Child(each, kFieldValue);
      continue;
    }
    if (kind == kListSplat || kind == kDictionarySplat) return kNoNode;
    if (at++ == place) return each;
    if (at > place && name.empty()) return kNoNode;
  }
  return kNoNode;
}

bool Evaluation::HasSplat(NodeId call) const {
  const NodeId list = tree_.Child(call, kFieldArguments);
  if (list == kNoNode) return false;
  for (NodeId each = tree_.FirstNamedChild(list); each != kNoNode; each = tree_.NextNamedSibling(each))
    if (tree_[each].kind == kListSplat || tree_[each].kind == kDictionarySplat) return true;
  return false;
}

}  // namespace skerry::policy::python
