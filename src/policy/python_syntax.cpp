#include "policy/python_syntax.hpp"

#include <algorithm>
#include <array>

namespace skerry::policy::python {
namespace {

// In the order of Kind.
constexpr auto kKinds = std::to_array<std::string_view>({
    "module",
    "block",
    "identifier",
    "attribute",
    "call",
    "subscript",
    "slice",
    "string",
    "string_start",
    "string_content",
    "interpolation",
    "concatenated_string",
    "binary_operator",
    "parenthesized_expression",
    "conditional_expression",
    "assignment",
    "augmented_assignment",
    "named_expression",
    "lambda",
    "function_definition",
    "class_definition",
    "decorated_definition",
    "parameters",
    "lambda_parameters",
    "default_parameter",
    "typed_parameter",
    "typed_default_parameter",
    "list_splat_pattern",
    "dictionary_splat_pattern",
    "pattern_list",
    "tuple_pattern",
    "list_pattern",
    "expression_list",
    "tuple",
    "list",
    "set",
    "list_comprehension",
    "set_comprehension",
    "dictionary_comprehension",
    "generator_expression",
    "for_in_clause",
    "for_statement",
    "as_pattern",
    "as_pattern_target",
    "argument_list",
    "keyword_argument",
    "list_splat",
    "dictionary_splat",
    "import_statement",
    "import_from_statement",
    "future_import_statement",
    "aliased_import",
    "dotted_name",
    "relative_import",
    "wildcard_import",
    "global_statement",
    "nonlocal_statement",
    "delete_statement",
    "exec_statement",
    "expression_statement",
    "comment",
    "integer",
    "unary_operator",
    "await",
    "keyword_pattern",
    "true",
    "except_clause",
    "boolean_operator",
    "comparison_operator",
    "type",
    "\"+\"",
    "\"%\"",
    "\"/\"",
});
static_assert(kKinds.size() == kSlash);

// In the order of Field.
constexpr auto kFields = std::to_array<std::string_view>({
    "object",
    "attribute",
    "function",
    "arguments",
    "value",
    "subscript",
    "left",
    "right",
    "operator",
    "name",
    "body",
    "parameters",
    "module_name",
    "alias",
    "code",
    "expression",
});
static_assert(kFields.size() == kFieldExpression);

// Functions that only look at their arguments.
bool OnlyLooks(const SyntaxTree& tree, NodeId call) {
  constexpr auto kLookers =
      std::to_array<std::string_view>({"getattr", "hasattr", "setattr", "delattr", "vars", "dir", "print", "help",
                                       "type", "id", "repr", "str", "isinstance", "callable", "reload", "object"});
  NodeId function = tree.Child(call, kFieldFunction);
  // patch.object(os, …), monkeypatch.setattr(os, …)
  if (function != kNoNode && tree[function].kind == kAttribute) function = tree.Child(function, kFieldAttribute);
  return function != kNoNode && std::ranges::find(kLookers, tree.BeginningOf(function)) != kLookers.end();
}

}  // namespace

bool IsHandedOn(const SyntaxTree& tree, NodeId id) {
  const NodeId parent = tree[id].parent;
  if (parent == kNoNode) return false;
  switch (tree[parent].kind) {
    case kArgumentList:
      return tree[parent].parent == kNoNode || !OnlyLooks(tree, tree[parent].parent);
    case kSubscript:
      return tree[id].field != kFieldValue;
    case kAssignment: {
      const NodeId target = tree.Child(parent, kFieldLeft);
      return target != kNoNode && tree[target].kind != kIdentifier;
    }
    case kAttribute:
    case kCall:
    case kParenthesized:
    case kConditional:
    case kAwait:
    case kBooleanOperator:
    case kNamedExpression:
    case kExpressionStatement:
    case kComparison:
    case kDefaultParameter:
    case kTypedDefaultParameter:
    case kAsPattern:
    case kDelete:
    case kInterpolation:
      return false;
    default:
      return true;
  }
}

const Vocabulary& TheVocabulary() {
  static const Vocabulary vocabulary(Grammar::kPython, kKinds, kFields);
  return vocabulary;
}

}  // namespace skerry::policy::python
