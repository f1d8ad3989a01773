#include "policy/evaluator.hpp"

#include <utility>

namespace skerry::policy {
namespace {

constexpr std::uint32_t kMaxLiteral = 4096;                 // for literals that are parts of others
constexpr std::size_t kMaxOfParts = std::size_t{1} << 20U;  // in a literal; further parts become holes
constexpr std::size_t kMemoryOfANode = 32;

bool IsLong(const Node& literal) {
  return literal.end - literal.begin > kMaxLiteral;
}

}  // namespace

Evaluator::Evaluator(const SyntaxTree& tree, const Names& names, const Language& language)
    : tree_(tree),
      names_(names),
      own_(names.Root(language.own)),
      part_(language.part),
      memory_(tree.budget()),
      pool_(tree.budget()),
      spellings_(language.read, tree.budget()),
      bindings_(pool_, tree.budget()) {
  memory_.Add(kMemoryOfANode * tree.size());
  values_.resize(tree.size());
}

Value Evaluator::OwnOr(std::string_view name, Value bound, Value value) {
  const NameId own = Own(name);
  if (own != kNoName) return pool_.Either(value, NameValue(own));
  const NameId module = names_.Root(name);
  const bool ambient = module != kNoName && names_.Has(module, When::kAmbient);
  return ambient && bound.kind == Value::Kind::kUnknown ? NameValue(module) : value;
}

Value Evaluator::MembersNamed(Value object, Value names) {
  Value result;
  ForEachText(names, [&](const std::string& name) { result = pool_.Either(result, MemberOf(object, name)); });
  return result;
}

Value Evaluator::Sum(const std::optional<std::string>& before, const std::optional<std::string>& after) {
  if (!before && !after) return {};
  return pool_.Text(before.value_or(kUnknownText) + after.value_or(kUnknownText));
}

Value Evaluator::Joined(NodeId list, std::string_view between) {
  std::string joined;
  std::size_t count = 0;
  for (NodeId each = tree_.FirstNamedChild(list); each != kNoNode; each = tree_.NextNamedSibling(each)) {
    if (++count > kMaxListItems) return {};
    if (count > 1) joined += between;
    joined += TextOf(values_[each]).value_or(kUnknownText);
    if (joined.size() > kMaxText) return {};
  }
  return pool_.Text(std::move(joined));
}

std::optional<std::string> Evaluator::TextOf(Value value) const {
  if (value.kind == Value::Kind::kText) {
    tree_.budget().Spend(WorkOfCopying(pool_.TextAt(value.id).size()));
    return pool_.TextAt(value.id);
  }
  if (value.kind == Value::Kind::kLiteral) return IsLong(tree_[value.id]) ? kUnknownText : LiteralText(value.id);
  if (value.kind != Value::Kind::kMany) return std::nullopt;
  // Of several values the first text; the others are looked at where they stand.
  std::optional<std::string> text;
  pool_.ForEach(value, [&](Value each) {
    if (!text && each.kind != Value::Kind::kMany) text = TextOf(each);
  });
  return text;
}

bool Evaluator::HasParts(NodeId literal) const {
  for (NodeId each = tree_.FirstChild(literal); each != kNoNode; each = tree_.NextSibling(each))
    if (tree_[each].kind == part_) return true;
  return false;
}

Value Evaluator::EvaluateString(NodeId id) {
  return IsLong(tree_[id]) || !HasParts(id) ? Value{Value::Kind::kLiteral, id} : pool_.Text(LiteralText(id));
}

std::string Evaluator::PartText(Value value) const {
  std::string text = kUnknownText;
  pool_.ForEach(value, [&](Value each) {
    if (each.kind == Value::Kind::kText) text = pool_.TextAt(each.id);
    if (each.kind == Value::Kind::kLiteral && !HasParts(each.id)) text = TextOf(each).value_or(kUnknownText);
  });
  return text;
}

std::string Evaluator::LiteralText(NodeId id) const {
  Literal literal;
  std::size_t of_parts = 0;
  for (NodeId each = tree_.FirstChild(id); each != kNoNode; each = tree_.NextSibling(each)) {
    const std::string_view written = tree_.TextOf(each);
    if (tree_[each].kind != part_) {
      AppendPiece(tree_[each].kind, written, literal);
      continue;
    }
    const NodeId expression = ExpressionIn(each);
    const bool unknown = expression == kNoNode || of_parts > kMaxOfParts;
    const std::string inside = unknown ? kUnknownText : PartText(values_[expression]);
    tree_.budget().Spend(WorkOfCopying(inside.size()));
    of_parts += inside.size();
    literal.text += inside;
  }
  return std::move(literal.text);
}

}  // namespace skerry::policy
