#include "policy/python_values.hpp"

#include <algorithm>

#include "policy/identifiers.hpp"
#include "policy/python_syntax.hpp"
#include "policy/texts.hpp"

namespace skerry::policy::python {
namespace {

constexpr int kMaxPasses = 4;
constexpr std::uint32_t kMaxLiteral = 4096;  // of those that are parts of others
constexpr std::size_t kMaxText = 4096;       // of what is put together; what is longer, the pool does not keep
constexpr std::size_t kMaxOfParts = std::size_t{1} << 20U;  // in a literal; what more there is becomes holes
constexpr std::size_t kMemoryOfANode = 32;
constexpr std::uint64_t kWorkOfACall = 12 * kWorkOfALookup;  // there are so many that are asked for
constexpr std::size_t kMaxListItems = 256;                   // of a list of texts that are joined

Value NameValue(NameId id) {
  return id == kNoName ? Value{} : Value{Value::Kind::kName, id};
}

// Members that modules have of other modules: `shutil.os`, `random._os`.
NameId ModuleAsMember(const Names& names, std::string_view member) {
  if (member.starts_with('_') && !member.starts_with("__")) member.remove_prefix(1);
  if (member != "os" && member != "sys" && member != "subprocess" && member != "builtins") return kNoName;
  return names.Root(member);
}

}  // namespace

Evaluation::Evaluation(const SyntaxTree& tree, const Names& names)
    : tree_(tree),
      names_(names),
      memory_(tree.budget()),
      pool_(tree.budget()),
      spellings_(FoldLookalikes, tree.budget()),
      bindings_(pool_, tree.budget()) {
  memory_.Add(kMemoryOfANode * tree.size());
  scoping_ = FindScopes(tree, spellings_, bindings_);
  values_.resize(tree.size());
}

void Evaluation::Run() {
  std::vector<NodeId> open;
  for (int pass = 0; pass < kMaxPasses; ++pass) {
    news_ = false;
    // A node has its turn when all inside it had theirs.
    const auto close = [&](NodeId until) {
      while (!open.empty() && tree_[open.back()].after <= until) {
        values_[open.back()] = Evaluate(open.back());
        open.pop_back();
      }
    };
    for (NodeId id = 0; tree_.Reaches(id); ++id) {
      close(id);
      open.push_back(id);
    }
    if (tree_.budget().IsOver()) return;
    close(tree_.size());
    if (!news_) return;
  }
}

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

// What binds names.
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
    // Each of what stands there.
    const std::uint8_t list = tree_[source].kind;
    if (list != kTuple && list != kList && list != kSet && list != kExpressionList) return {};
    for (NodeId each = tree_.FirstNamedChild(source); each != kNoNode; each = tree_.NextNamedSibling(each))
      Assign(target, each);
    return {};
  }
  Assign(target, source);
  return values_[source];
}

// `x += y`: once, or over and over.
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

// Side by side where both sides are lists of the same form.
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
      value = Member(from, Normal(tree_.TextOf(name)));
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
  const NameId own = names_.Member(names_.Root("builtins"), name);
  if (own != kNoName) return pool_.Either(value, NameValue(own));
  const NameId module = names_.Root(name);
  const bool ambient = module != kNoName && names_.Has(module, When::kAmbient);
  return ambient && found.value.kind == Value::Kind::kUnknown ? NameValue(module) : value;
}

Value Evaluation::EvaluateIdentifier(NodeId id) {
  if (!scoping_.is_mention[id]) return {};
  return GlobalName(Normal(tree_.TextOf(id)), scoping_.scope_of[id], tree_[id].begin);
}

Value Evaluation::Member(Value object, std::string_view name) {
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
    // The namespaces of the running code hold its modules, too.
    if (member == kNoName && each.id == names_.Root("builtins")) member = names_.Root(name);
    if (member == kNoName) member = ModuleAsMember(names_, name);
    result = pool_.Either(result, member == kNoName ? Value{Value::Kind::kForeign, 0} : NameValue(member));
  });
  return result;
}

Value Evaluation::MembersNamed(Value object, Value names) {
  Value result;
  ForEachText(names, [&](const std::string& name) { result = pool_.Either(result, Member(object, name)); });
  return result;
}

Value Evaluation::EvaluateAttribute(NodeId id) {
  const NodeId object = tree_.Child(id, kFieldObject);
  const NodeId name = tree_.Child(id, kFieldAttribute);
  if (object == kNoNode || name == kNoNode) return {};
  return Member(values_[object], Normal(tree_.TextOf(name)));
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

// Of a module's own table, or of the table of modules.
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
  // A path with another one behind it stays what it is.
  if (tree_[sign].kind == kSlash && values_[left].kind == Value::Kind::kName) return values_[left];
  const auto before = TextOf(values_[left]);
  if (tree_[sign].kind == kPercent) return before ? pool_.Text(WithHoles(*before, '%')) : Value{};
  if (tree_[sign].kind != kPlus) return {};
  const auto after = TextOf(values_[right]);
  if (!before && !after) return {};
  return pool_.Text(before.value_or(std::string(1, kHole)) + after.value_or(std::string(1, kHole)));
}

Value Evaluation::EvaluateConcatenation(NodeId id) {
  std::string whole;
  for (NodeId each = tree_.FirstNamedChild(id); each != kNoNode; each = tree_.NextNamedSibling(each)) {
    whole += TextOf(values_[each]).value_or(std::string(1, kHole));
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
  if (name == "join" && first != kNoNode && (tree_[first].kind == kList || tree_[first].kind == kTuple)) {
    std::string joined;
    std::size_t count = 0;
    for (NodeId each = tree_.FirstNamedChild(first); each != kNoNode; each = tree_.NextNamedSibling(each)) {
      if (++count > kMaxListItems) return {};
      if (count > 1) joined += *text;
      joined += TextOf(values_[each]).value_or(std::string(1, kHole));
      if (joined.size() > kMaxText) return {};
    }
    return pool_.Text(std::move(joined));
  }
  return pool_.Text(std::string(1, kHole));
}

std::optional<std::string> Evaluation::TextOf(Value value) const {
  if (value.kind == Value::Kind::kText) {
    tree_.budget().Spend(WorkOfCopying(pool_.TextAt(value.id).size()));
    return pool_.TextAt(value.id);
  }
  if (value.kind == Value::Kind::kLiteral) {
    const bool is_long = tree_[value.id].end - tree_[value.id].begin > kMaxLiteral;
    return is_long ? std::string(1, kHole) : LiteralText(value.id);
  }
  if (value.kind != Value::Kind::kMany) return std::nullopt;
  // One of several: the first text; the others are looked at where they stand.
  std::optional<std::string> text;
  pool_.ForEach(value, [&](Value each) {
    if (!text && each.kind != Value::Kind::kMany) text = TextOf(each);
  });
  return text;
}

bool Evaluation::HasParts(NodeId literal) const {
  for (NodeId each = tree_.FirstChild(literal); each != kNoNode; each = tree_.NextSibling(each))
    if (tree_[each].kind == kInterpolation) return true;
  return false;
}

// A text with parts is put together when its parts are known, so that none is a part of itself.
Value Evaluation::EvaluateString(NodeId id) {
  const bool is_long = tree_[id].end - tree_[id].begin > kMaxLiteral;
  return is_long || !HasParts(id) ? Value{Value::Kind::kLiteral, id} : pool_.Text(LiteralText(id));
}

std::string Evaluation::PartText(Value value) const {
  std::string text(1, kHole);
  pool_.ForEach(value, [&](Value each) {
    if (each.kind == Value::Kind::kText) text = pool_.TextAt(each.id);
    if (each.kind == Value::Kind::kLiteral && !HasParts(each.id)) text = TextOf(each).value_or(std::string(1, kHole));
  });
  return text;
}

std::string Evaluation::LiteralText(NodeId id) const {
  std::string text;
  std::size_t of_parts = 0;
  bool raw = false;
  for (NodeId each = tree_.FirstChild(id); each != kNoNode; each = tree_.NextSibling(each)) {
    const std::string_view part = tree_.TextOf(each);
    switch (tree_[each].kind) {
      case kStringStart:
        raw = part.find_first_of("rR") != std::string_view::npos;
        break;
      case kStringContent:
        tree_.budget().Spend(WorkOfReading(part.size()));
        text += raw ? std::string(part) : Unescaped(part);
        break;
      case kInterpolation: {
        const NodeId expression = tree_.Child(each, kFieldExpression);
        const bool unknown = expression == kNoNode || of_parts > kMaxOfParts;
        const std::string inside = unknown ? std::string(1, kHole) : PartText(values_[expression]);
        tree_.budget().Spend(WorkOfCopying(inside.size()));
        of_parts += inside.size();
        text += inside;
        break;
      }
      default:
        break;
    }
  }
  return text;
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
