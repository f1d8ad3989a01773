#include "policy/javascript_values.hpp"

#include "policy/identifiers.hpp"
#include "policy/javascript_syntax.hpp"
#include "policy/texts.hpp"

namespace skerry::policy::javascript {
namespace {

constexpr int kMaxPasses = 4;
constexpr std::uint32_t kMaxLiteral = 4096;  // of those that are parts of others
constexpr std::size_t kMaxListItems = 256;   // of a list of texts that are joined
constexpr int kMaxAncestors = 200;

const std::string kUnknownText(1, kHole);

Value NameValue(NameId id) {
  return id == kNoName ? Value{} : Value{Value::Kind::kName, id};
}

bool IsFunctionLiteral(std::uint8_t kind) {
  return kind == kFunctionExpression || kind == kArrowFunction || kind == kGeneratorFunction;
}

}  // namespace

Evaluation::Evaluation(const SyntaxTree& tree, const Names& names)
    : tree_(tree),
      names_(names),
      own_(names.Root("globalThis")),
      bindings_(pool_),
      scoping_(FindScopes(tree, bindings_)),
      values_(tree.size()) {}

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
    for (NodeId id = 0; id < tree_.size(); ++id) {
      close(id);
      open.push_back(id);
    }
    close(tree_.size());
    if (!news_) return;
  }
}

Value Evaluation::Evaluate(NodeId id) {
  const auto child = [&](std::uint8_t field) {
    const NodeId found = tree_.Child(id, field);
    return found == kNoNode ? Value{} : values_[found];
  };
  switch (tree_[id].kind) {
    case kIdentifier:
    case kShorthandPropertyIdentifier:
      return EvaluateIdentifier(id);
    case kThis:
      return EvaluateThis(id);
    case kMemberExpression: {
      const NodeId object = tree_.Child(id, kFieldObject);
      const NodeId property = tree_.Child(id, kFieldProperty);
      if (object == kNoNode || property == kNoNode) return {};
      return Member(object, Normal(tree_.TextOf(property)));
    }
    case kSubscriptExpression:
      return EvaluateSubscript(id);
    case kCallExpression:
    case kNewExpression:
      return EvaluateCall(id);
    case kString:
    case kTemplateString:
      return EvaluateString(id);
    case kBinaryExpression:
      return EvaluateBinary(id);
    case kParenthesizedExpression:
    case kAwaitExpression:
    case kAsExpression:
    case kSatisfiesExpression:
    case kNonNullExpression: {
      const NodeId inner = tree_.FirstNamedChild(id);
      return inner == kNoNode ? Value{} : values_[inner];
    }
    case kTypeAssertion:
    case kSequenceExpression: {
      NodeId last = tree_.FirstNamedChild(id);
      for (NodeId next = last; next != kNoNode; next = tree_.NextNamedSibling(next)) last = next;
      return last == kNoNode ? Value{} : values_[last];
    }
    case kTernaryExpression:
      return pool_.Either(child(kFieldConsequence), child(kFieldAlternative));
    case kVariableDeclarator:
      AssignPattern(tree_.Child(id, kFieldName), child(kFieldValue));
      return {};
    case kAssignmentExpression:
      AssignPattern(tree_.Child(id, kFieldLeft), child(kFieldRight));
      return child(kFieldRight);
    case kAssignmentPattern:
      AssignPattern(tree_.Child(id, kFieldLeft), child(kFieldRight));
      return {};
    case kImportStatement:
      AssignImport(id);
      return {};
    default:
      return {};
  }
}

Value Evaluation::EvaluateIdentifier(NodeId id) {
  if (scoping_.is_binding[id]) return {};
  const std::string_view name = Normal(tree_.TextOf(id));
  const Bindings::Found found = bindings_.Lookup(scoping_.scope_of[id], name, tree_[id].begin);
  if (!found.may_be_outer) return found.value;
  const NameId own = Own(name);
  if (own != kNoName) return pool_.Either(found.value, NameValue(own));
  const NameId module = names_.Root(name);
  const bool ambient = module != kNoName && names_.Has(module, When::kAmbient);
  return ambient && found.value.kind == Value::Kind::kUnknown ? NameValue(module) : found.value;
}

// Outside of classes and objects `this` can be what holds all names.
Value Evaluation::EvaluateThis(NodeId id) const {
  NodeId at = tree_[id].parent;
  for (int steps = 0; at != kNoNode && steps < kMaxAncestors; ++steps, at = tree_[at].parent)
    if (tree_[at].kind == kClassBody || tree_[at].kind == kObject || tree_[at].kind == kMethodDefinition) return {};
  return {Value::Kind::kName, own_};
}

Value Evaluation::MemberOf(Value object, std::string_view name) {
  Value result;
  pool_.ForEach(object, [&](Value each) {
    if (each.kind != Value::Kind::kName) return;
    NameId member = names_.Member(each.id, name);
    // What a module exports by default is the module.
    if (member == kNoName && name == "default") member = each.id;
    if (member == kNoName && each.id != own_ && (name == "call" || name == "apply" || name == "bind")) member = each.id;
    result = pool_.Either(result, member == kNoName ? Value{Value::Kind::kForeign, 0} : NameValue(member));
  });
  return result;
}

// The constructor of a function makes functions of texts, and every constructor is a function.
Value Evaluation::Member(NodeId object, std::string_view name) {
  if (name == "constructor") {
    NodeId inner = object;
    while (inner != kNoNode && tree_[inner].kind == kParenthesizedExpression) inner = tree_.FirstNamedChild(inner);
    const NodeId property = inner == kNoNode ? kNoNode : tree_.Child(inner, kFieldProperty);
    const bool of_constructor = property != kNoNode && tree_.TextOf(property) == "constructor";
    const bool of_prototype = tree_.TextOf(object).ends_with("getPrototypeOf(async function(){})");
    const NodeId index = inner == kNoNode ? kNoNode : tree_.Child(inner, kFieldIndex);
    const bool by_text = index != kNoNode && TextOf(values_[index]) == "constructor";
    const bool of_function =
        inner != kNoNode && (IsFunctionLiteral(tree_[inner].kind) || values_[inner].kind == Value::Kind::kName);
    if (of_constructor || by_text || of_function || of_prototype) return NameValue(Own("Function"));
  }
  return MemberOf(values_[object], name);
}

Value Evaluation::EvaluateSubscript(NodeId id) {
  const NodeId object = tree_.Child(id, kFieldObject);
  const NodeId index = tree_.Child(id, kFieldIndex);
  if (object == kNoNode || index == kNoNode) return {};
  const auto key = TextOf(values_[index]);
  return key ? Member(object, *key) : Value{};
}

Value Evaluation::EvaluateBinary(NodeId id) {
  const NodeId left = tree_.Child(id, kFieldLeft);
  const NodeId right = tree_.Child(id, kFieldRight);
  const NodeId sign = tree_.Child(id, kFieldOperator);
  if (left == kNoNode || right == kNoNode || sign == kNoNode) return {};
  const std::string_view word = tree_.TextOf(sign);
  if (word == "||" || word == "??" || word == "&&") return pool_.Either(values_[left], values_[right]);
  if (tree_[sign].kind != kPlus) return {};
  const auto before = TextOf(values_[left]);
  const auto after = TextOf(values_[right]);
  if (!before && !after) return {};
  return pool_.Text(before.value_or(kUnknownText) + after.value_or(kUnknownText));
}

bool Evaluation::IsRequire(Value function) const {
  bool is = false;
  pool_.ForEach(function, [&](Value each) { is |= each == NameValue(Own("require")); });
  return is;
}

Value Evaluation::EvaluateCall(NodeId id) {
  const bool is_new = tree_[id].kind == kNewExpression;
  const NodeId function = tree_.Child(id, is_new ? kFieldConstructor : kFieldFunction);
  if (function == kNoNode) return {};
  const NodeId first = Argument(id, 0);
  if (tree_[function].kind == kImportKeyword || IsRequire(values_[function])) {
    const auto name = first == kNoNode ? std::nullopt : TextOf(values_[first]);
    return name && name->find(kHole) == std::string::npos ? ModuleNamed(*name) : Value{};
  }
  Value result;
  pool_.ForEach(values_[function], [&](Value each) {
    if (each.kind == Value::Kind::kName) result = pool_.Either(result, CallOfName(id, each.id));
  });
  if (result.kind == Value::Kind::kUnknown && tree_[function].kind == kMemberExpression)
    result = CallOfMethod(id, function);
  return result;
}

Value Evaluation::CallOfName(NodeId id, NameId function) {
  const NodeId first = Argument(id, 0);
  const auto text = first == kNoNode ? std::nullopt : TextOf(values_[first]);
  if (function == Own("atob") && text) return pool_.Text(FromBase64(*text));
  if (function == names_.Member(Own("Buffer"), "from") && text) {
    const NodeId second = Argument(id, 1);
    const auto encoding = second == kNoNode ? std::nullopt : TextOf(values_[second]);
    if (encoding == "base64") return pool_.Text(FromBase64(*text));
    if (encoding == "hex") return pool_.Text(FromHex(*text));
    return values_[first];
  }
  if (function == names_.Member(Own("String"), "fromCharCode")) {
    std::string characters;
    for (NodeId each = first; each != kNoNode && characters.size() < kMaxListItems; each = tree_.NextNamedSibling(each))
      characters += CharacterNumbered(tree_.TextOf(each));
    return pool_.Text(std::move(characters));
  }
  if (function == names_.Member(Own("Reflect"), "get") && first != kNoNode) {
    const NodeId second = Argument(id, 1);
    const auto name = second == kNoNode ? std::nullopt : TextOf(values_[second]);
    return name ? MemberOf(values_[first], *name) : Value{};
  }
  return NameValue(names_.Member(function, "()"));
}

Value Evaluation::Joined(NodeId list, std::string_view between) {
  std::string joined;
  std::size_t count = 0;
  for (NodeId each = tree_.FirstNamedChild(list); each != kNoNode; each = tree_.NextNamedSibling(each)) {
    if (++count > kMaxListItems) return {};
    if (count > 1) joined += between;
    joined += TextOf(values_[each]).value_or(kUnknownText);
  }
  return pool_.Text(std::move(joined));
}

// Methods of texts and lists of texts.
Value Evaluation::CallOfMethod(NodeId id, NodeId function) {
  const NodeId object = tree_.Child(function, kFieldObject);
  const NodeId property = tree_.Child(function, kFieldProperty);
  if (object == kNoNode || property == kNoNode) return {};
  const std::string_view name = tree_.TextOf(property);
  const NodeId first = Argument(id, 0);
  const auto argument = first == kNoNode ? std::nullopt : TextOf(values_[first]);
  if (name == "join" && tree_[object].kind == kArray) return Joined(object, argument.value_or(","));
  const auto text = TextOf(values_[object]);
  if (!text) return {};
  if (name == "concat") return pool_.Text(*text + argument.value_or(kUnknownText));
  if (name == "toString" || name == "trim" || name == "toLowerCase") return values_[object];
  // 'lave'.split('').reverse().join('')
  if (name == "split") return values_[object];
  if (name == "reverse") return pool_.Text(std::string(text->rbegin(), text->rend()));
  if (name == "join") return values_[object];
  return pool_.Text(kUnknownText);
}

void Evaluation::AssignName(NodeId target, Value value) {
  if (value.kind == Value::Kind::kUnknown) return;
  const std::string_view name = Normal(tree_.TextOf(target));
  const Scope scope =
      scoping_.is_binding[target] ? scoping_.bound_in[target] : bindings_.Declaring(scoping_.scope_of[target], name);
  news_ |= bindings_.Assign(scope, name, value);
}

void Evaluation::AssignPattern(NodeId target, Value value) {
  if (target == kNoNode) return;
  const std::uint8_t kind = tree_[target].kind;
  if (kind == kIdentifier) return AssignName(target, value);
  if (kind == kObjectPattern) AssignObjectPattern(target, value);
}

// One level: what is deeper is not followed.
void Evaluation::AssignObjectPattern(NodeId target, Value value) {
  for (NodeId each = tree_.FirstNamedChild(target); each != kNoNode; each = tree_.NextNamedSibling(each)) {
    const std::uint8_t kind = tree_[each].kind;
    if (kind == kShorthandPropertyIdentifierPattern) {
      AssignName(each, MemberOf(value, Normal(tree_.TextOf(each))));
    } else if (kind == kPairPattern) {
      const NodeId key = tree_.Child(each, kFieldKey);
      const NodeId name = tree_.Child(each, kFieldValue);
      if (key == kNoNode || name == kNoNode || tree_[name].kind != kIdentifier) continue;
      const NodeId computed = tree_.FirstNamedChild(key);
      const auto text = computed == kNoNode ? std::nullopt : TextOf(values_[computed]);
      AssignName(name, MemberOf(value, text ? std::string_view(*text) : Normal(tree_.TextOf(key))));
    } else if (kind == kObjectAssignmentPattern) {
      const NodeId name = tree_.Child(each, kFieldLeft);
      if (name != kNoNode) AssignName(name, MemberOf(value, tree_.TextOf(name)));
    }
  }
}

void Evaluation::AssignImport(NodeId id) {
  NodeId source = tree_.Child(id, kFieldSource);
  // `import x = require("fs")` of TypeScript has it one level down.
  for (NodeId each = tree_.FirstNamedChild(id); each != kNoNode && source == kNoNode;
       each = tree_.NextNamedSibling(each))
    source = tree_.Child(each, kFieldSource);
  if (source == kNoNode) return;
  const auto name = TextOf(values_[source]);
  const Value module = name ? ModuleNamed(*name) : Value{};
  for (NodeId each = id + 1; each < tree_[id].after; ++each) {
    if (!scoping_.is_binding[each]) continue;
    const NodeId parent = tree_[each].parent;
    if (tree_[parent].kind != kImportSpecifier) {
      AssignName(each, module);
      continue;
    }
    const NodeId member = tree_.Child(parent, kFieldName);
    if (member != kNoNode) AssignName(each, MemberOf(module, tree_.TextOf(member)));
  }
}

Value Evaluation::ModuleNamed(std::string_view name) const {
  if (name.starts_with("node:")) name.remove_prefix(5);
  NameId id = names_.Root(name);
  // `fs/promises`; but `@scope/name` and `name/part` of others are what they are.
  if (id == kNoName && name.ends_with("/promises")) id = names_.Root(name.substr(0, name.find('/')));
  if (id == own_) id = kNoName;
  return id == kNoName ? Value{Value::Kind::kForeign, 0} : NameValue(id);
}

std::optional<std::string> Evaluation::TextOf(Value value) const {
  if (value.kind == Value::Kind::kText) return pool_.TextAt(value.id);
  if (value.kind == Value::Kind::kLiteral) {
    const bool is_long = tree_[value.id].end - tree_[value.id].begin > kMaxLiteral;
    return is_long ? kUnknownText : LiteralText(value.id);
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
    if (tree_[each].kind == kTemplateSubstitution) return true;
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
  for (NodeId each = tree_.FirstChild(id); each != kNoNode; each = tree_.NextSibling(each)) {
    const std::string_view part = tree_.TextOf(each);
    switch (tree_[each].kind) {
      case kStringFragment:
        text += part;
        break;
      case kEscapeSequence:
        text += Unescaped(part);
        break;
      case kTemplateSubstitution: {
        const NodeId inner = tree_.FirstNamedChild(each);
        text += inner == kNoNode ? kUnknownText : PartText(values_[inner]);
        break;
      }
      default:
        break;
    }
  }
  return text;
}

NodeId Evaluation::Argument(NodeId call, std::size_t place) const {
  const NodeId list = tree_.Child(call, kFieldArguments);
  if (list == kNoNode) return kNoNode;
  if (tree_[list].kind == kTemplateString) return place == 0 ? list : kNoNode;
  std::size_t at = 0;
  for (NodeId each = tree_.FirstNamedChild(list); each != kNoNode; each = tree_.NextNamedSibling(each)) {
    if (tree_[each].kind == kComment) continue;
    if (tree_[each].kind == kSpreadElement) return kNoNode;
    if (at++ == place) return each;
  }
  return kNoNode;
}

NodeId Evaluation::LastArgument(NodeId call) const {
  const NodeId list = tree_.Child(call, kFieldArguments);
  NodeId last = kNoNode;
  if (list == kNoNode) return last;
  for (NodeId each = tree_.FirstNamedChild(list); each != kNoNode; each = tree_.NextNamedSibling(each))
    if (tree_[each].kind != kComment) last = each;
  return last;
}

std::string_view Evaluation::Normal(std::string_view identifier) {
  if (identifier.find('\\') == std::string_view::npos) return identifier;
  return normal_.emplace_back(UnescapedIdentifier(identifier));
}

}  // namespace skerry::policy::javascript
