#include "policy/javascript_values.hpp"

#include "policy/identifiers.hpp"
#include "policy/javascript_syntax.hpp"
#include "policy/texts.hpp"

namespace skerry::policy::javascript {
namespace {

constexpr std::uint64_t kWorkOfACall = 16 * kWorkOfALookup;  // a call asks for so many names
constexpr int kMaxAncestors = 200;
constexpr int kMaxPatternDepth = 16;

}  // namespace

Evaluation::Evaluation(const SyntaxTree& tree, const Names& names)
    : Evaluator(tree, names, {.own = "globalThis", .read = UnescapedIdentifier, .part = kTemplateSubstitution}),
      scoping_(FindScopes(tree, spellings_, bindings_)) {}

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
      // The methods of lists are functions.
      if (tree_[object].kind == kArray || tree_[object].kind == kRegex) return AFunction();
      return MemberOf(values_[object], Normal(tree_.TextOf(property)));
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
    case kAugmentedAssignmentExpression:
      AssignAugmented(id);
      return {};
    case kFunctionDeclaration:
    case kGeneratorFunctionDeclaration:
    case kClassDeclaration:
      AssignPattern(tree_.Child(id, kFieldName), AFunction());
      return {};
    case kFunctionExpression:
    case kGeneratorFunction:
    case kArrowFunction:
    case kClassExpression:
      return AFunction();
    case kAssignmentPattern:
      AssignPattern(tree_.Child(id, kFieldLeft), child(kFieldRight));
      return {};
    case kForInStatement:
      AssignLoop(id);
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
  tree_.budget().Spend(2 * kWorkOfALookup);
  return found.may_be_outer ? OwnOr(name, found.value, found.value) : found.value;
}

// Outside of classes and objects `this` can be the global object.
Value Evaluation::EvaluateThis(NodeId id) const {
  NodeId at = tree_[id].parent;
  for (int steps = 0; at != kNoNode && steps < kMaxAncestors; ++steps, at = tree_.Parent(at)) {
    const std::uint8_t kind = tree_[at].kind;
    if (kind == kClassBody || kind == kObject || kind == kMethodDefinition) return {};
    // Thing.prototype.name = function () { … }
    if (kind == kFunctionExpression && tree_[tree_[at].parent].kind == kAssignmentExpression) return {};
  }
  return {Value::Kind::kName, own_};
}

Value Evaluation::MemberOf(Value object, std::string_view name) {
  Value result;
  pool_.ForEach(object, [&](Value each) {
    tree_.budget().Spend(3 * kWorkOfALookup);
    // The methods of texts are functions.
    if (each.kind == Value::Kind::kText || each.kind == Value::Kind::kLiteral)
      result = pool_.Either(result, name == "length" ? Value{} : AFunction());
    if (each.kind != Value::Kind::kName) return;
    NameId member = names_.Member(each.id, name);
    // The default export of a module is taken for the module.
    if (member == kNoName && name == "default") member = each.id;
    const bool passes_on = name == "call" || name == "apply" || name == "bind";
    if (member == kNoName && each.id != own_ && passes_on) member = each.id;
    result = pool_.Either(result, member == kNoName ? Value{Value::Kind::kForeign, 0} : NameValue(member));
  });
  // Every constructor is a function, and the constructor of a function makes functions of texts.
  const bool unknown = result.kind == Value::Kind::kUnknown || result.kind == Value::Kind::kForeign;
  return unknown && name == "constructor" ? AFunction() : result;
}

Value Evaluation::EvaluateSubscript(NodeId id) {
  const NodeId object = tree_.Child(id, kFieldObject);
  const NodeId index = tree_.Child(id, kFieldIndex);
  if (object == kNoNode || index == kNoNode) return {};
  return MembersNamed(values_[object], values_[index]);
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
  return Sum(before, TextOf(values_[right]));
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
    Value module;
    if (first != kNoNode)
      ForEachText(values_[first], [&](const std::string& name) { module = pool_.Either(module, ModuleNamed(name)); });
    return module;
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
  tree_.budget().Spend(kWorkOfACall);
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
  const NameId string = Own("String");
  if (function == names_.Member(string, "fromCharCode") || function == names_.Member(string, "fromCodePoint")) {
    std::string characters;
    for (NodeId each = first; each != kNoNode && characters.size() < kMaxListItems; each = tree_.NextNamedSibling(each))
      characters += CharacterNumbered(tree_.TextOf(each));
    return pool_.Text(std::move(characters));
  }
  const Value reflected = first == kNoNode ? Value{} : CallOfReflection(id, function);
  return reflected.kind == Value::Kind::kUnknown ? NameValue(names_.Member(function, "()")) : reflected;
}

Value Evaluation::CallOfReflection(NodeId id, NameId function) {
  const Value object = values_[Argument(id, 0)];
  const NameId reflect = Own("Reflect");
  const NameId of_object = Own("Object");
  if (function == names_.Member(reflect, "getPrototypeOf") || function == names_.Member(of_object, "getPrototypeOf"))
    return MemberOf(object, "__proto__");
  if (function == names_.Member(reflect, "get") || function == names_.Member(of_object, "getOwnPropertyDescriptor")) {
    const NodeId second = Argument(id, 1);
    return second == kNoNode ? Value{} : MembersNamed(object, values_[second]);
  }
  return {};
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
  std::vector<Taking> rest;
  if (target != kNoNode) rest.push_back({target, value, 0});
  while (!rest.empty()) {
    const Taking taking = rest.back();
    rest.pop_back();
    const NodeId pattern = taking.pattern;
    const std::uint8_t kind = tree_[pattern].kind;
    if (kind == kIdentifier || kind == kShorthandPropertyIdentifierPattern) AssignName(pattern, taking.value);
    // A pattern with a default is visited by itself as well: deeper visits would make the whole quadratic.
    if (taking.depth > kMaxPatternDepth) continue;
    if (kind == kObjectAssignmentPattern || kind == kAssignmentPattern) {
      const NodeId name = tree_.Child(pattern, kFieldLeft);
      const NodeId fallback = tree_.Child(pattern, kFieldRight);
      const Value other = fallback == kNoNode ? Value{} : values_[fallback];
      if (name != kNoNode) rest.push_back({name, pool_.Either(taking.value, other), taking.depth + 1});
    }
    if (kind == kObjectPattern)
      for (NodeId each = tree_.FirstNamedChild(pattern); each != kNoNode; each = tree_.NextNamedSibling(each))
        AssignField(each, taking, rest);
  }
}

void Evaluation::AssignField(NodeId field, const Taking& whole, std::vector<Taking>& rest) {
  const std::uint8_t kind = tree_[field].kind;
  if (kind == kShorthandPropertyIdentifierPattern) {
    AssignName(field, MemberOf(whole.value, Normal(tree_.TextOf(field))));
  } else if (kind == kPairPattern) {
    const NodeId key = tree_.Child(field, kFieldKey);
    const NodeId name = tree_.Child(field, kFieldValue);
    if (key == kNoNode || name == kNoNode) return;
    const NodeId computed = tree_.FirstNamedChild(key);
    const auto text = computed == kNoNode ? std::nullopt : TextOf(values_[computed]);
    const std::string_view member = text ? std::string_view(*text) : Normal(tree_.TextOf(key));
    rest.push_back({name, MemberOf(whole.value, member), whole.depth + 1});
  } else if (kind == kObjectAssignmentPattern) {
    const NodeId name = tree_.Child(field, kFieldLeft);
    if (name == kNoNode) return;
    rest.push_back({field, MemberOf(whole.value, Normal(tree_.TextOf(name))), whole.depth + 1});
  }
}

// `for (const x of [a, b])`: x can be each of the elements.
void Evaluation::AssignLoop(NodeId id) {
  const NodeId target = tree_.Child(id, kFieldLeft);
  const NodeId source = tree_.Child(id, kFieldRight);
  if (target == kNoNode || source == kNoNode || tree_[source].kind != kArray) return;
  Value any;
  for (NodeId each = tree_.FirstNamedChild(source); each != kNoNode; each = tree_.NextNamedSibling(each))
    any = pool_.Either(any, values_[each]);
  AssignPattern(target, any);
}

// `x ||= y` can be y, `x += y` is a text when one of them is.
void Evaluation::AssignAugmented(NodeId id) {
  const NodeId target = tree_.Child(id, kFieldLeft);
  const NodeId source = tree_.Child(id, kFieldRight);
  const NodeId sign = tree_.Child(id, kFieldOperator);
  if (target == kNoNode || source == kNoNode || sign == kNoNode || tree_[target].kind != kIdentifier) return;
  const std::string_view word = tree_.TextOf(sign);
  if (word == "||=" || word == "&&=" || word == "\?\?=") return AssignName(target, values_[source]);
  const bool text = TextOf(values_[target]) || TextOf(values_[source]);
  if (word == "+=" && text) AssignName(target, ValuePool::kSomeText);
}

void Evaluation::AssignImport(NodeId id) {
  NodeId source = tree_.Child(id, kFieldSource);
  // `import x = require("fs")` of TypeScript has the source one level down.
  for (NodeId each = tree_.FirstNamedChild(id); each != kNoNode && source == kNoNode;
       each = tree_.NextNamedSibling(each))
    source = tree_.Child(each, kFieldSource);
  if (source == kNoNode) return;
  const auto name = TextOf(values_[source]);
  const Value module = name ? ModuleNamed(*name) : Value{};
  for (NodeId each = id + 1; each < tree_[id].after && tree_.budget().Spend(kWorkOfAStep); ++each) {
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
  // `fs/promises`; the names `@scope/name` and `name/part` of other packages are not shortened.
  if (id == kNoName && name.ends_with("/promises")) id = names_.Root(name.substr(0, name.find('/')));
  if (id == own_) id = kNoName;
  return id == kNoName ? Value{Value::Kind::kForeign, 0} : NameValue(id);
}

NodeId Evaluation::ExpressionIn(NodeId part) const {
  return tree_.FirstNamedChild(part);
}

void Evaluation::AppendPiece(std::uint8_t kind, std::string_view written, Literal& literal) const {
  if (kind == kStringFragment) literal.text += written;
  if (kind == kEscapeSequence) literal.text += Unescaped(written);
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

}  // namespace skerry::policy::javascript
