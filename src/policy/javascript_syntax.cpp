#include "policy/javascript_syntax.hpp"

#include <algorithm>
#include <array>

namespace skerry::policy::javascript {
namespace {

// In the order of Kind.
constexpr auto kKinds = std::to_array<std::string_view>({
    "program",
    "statement_block",
    "class_body",
    "switch_body",
    "catch_clause",
    "for_statement",
    "for_in_statement",
    "identifier",
    "property_identifier",
    "private_property_identifier",
    "shorthand_property_identifier",
    "shorthand_property_identifier_pattern",
    "member_expression",
    "subscript_expression",
    "call_expression",
    "new_expression",
    "import",
    "string",
    "string_fragment",
    "escape_sequence",
    "template_string",
    "template_substitution",
    "binary_expression",
    "parenthesized_expression",
    "sequence_expression",
    "ternary_expression",
    "assignment_expression",
    "augmented_assignment_expression",
    "await_expression",
    "as_expression",
    "satisfies_expression",
    "non_null_expression",
    "type_assertion",
    "function_declaration",
    "function_expression",
    "generator_function",
    "generator_function_declaration",
    "arrow_function",
    "method_definition",
    "class_declaration",
    "class",
    "abstract_class_declaration",
    "lexical_declaration",
    "variable_declaration",
    "variable_declarator",
    "formal_parameters",
    "required_parameter",
    "optional_parameter",
    "object_pattern",
    "array_pattern",
    "pair_pattern",
    "assignment_pattern",
    "object_assignment_pattern",
    "rest_pattern",
    "array",
    "object",
    "pair",
    "spread_element",
    "import_statement",
    "import_clause",
    "namespace_import",
    "named_imports",
    "import_specifier",
    "import_require_clause",
    "export_statement",
    "arguments",
    "number",
    "this",
    "regex",
    "comment",
    "unary_expression",
    "true",
    "\"+\"",
    "\"const\"",
    "\"let\"",
    "export_clause",
    "jsx_opening_element",
    "jsx_closing_element",
    "jsx_self_closing_element",
    "expression_statement",
    "type_query",
});
static_assert(kKinds.size() == kTypeQuery);

// In the order of Field.
constexpr auto kFields = std::to_array<std::string_view>({
    "object",    "property", "index",  "function", "constructor", "arguments",   "left",
    "right",     "operator", "name",   "value",    "key",         "body",        "parameters",
    "parameter", "alias",    "source", "pattern",  "consequence", "alternative", "handler",
});
static_assert(kFields.size() == kFieldHandler);

// The name of the called function or method, without the object.
std::string_view CalledWord(const SyntaxTree& tree, NodeId call) {
  NodeId function = tree.Child(call, kFieldFunction);
  if (function != kNoNode && tree[function].kind == kMemberExpression) function = tree.Child(function, kFieldProperty);
  return function == kNoNode ? std::string_view() : tree.BeginningOf(function);
}

// Calls that only compare with or name a type: expect.any(Function), and the types in the properties of a component.
bool OnlyLooks(const SyntaxTree& tree, NodeId arguments) {
  constexpr auto kLookers =
      std::to_array<std::string_view>({"any", "toBeInstanceOf", "instanceOf", "instanceof", "isInstanceOf",
                                       "defineComponent", "defineProps", "extend", "component", "createApp", "String"});
  const NodeId call = tree[arguments].parent;
  return call != kNoNode && std::ranges::find(kLookers, CalledWord(tree, call)) != kLookers.end();
}

}  // namespace

bool IsHandedOn(const SyntaxTree& tree, NodeId id) {
  NodeId at = tree[id].parent;
  constexpr int kMaxSteps = 16;
  for (int steps = 0; at != kNoNode && steps < kMaxSteps; ++steps, at = tree.Parent(at)) {
    switch (tree[at].kind) {
      case kArguments:
        return !OnlyLooks(tree, at);
      case kArray:
      case kObject:
      case kPair:
        continue;
      case kExportStatement:
        return false;
      case kAssignmentExpression: {
        const NodeId target = tree.Child(at, kFieldLeft);
        return tree[id].parent != at || (target != kNoNode && tree[target].kind != kIdentifier);
      }
      case kVariableDeclarator:
      case kCallExpression:
      case kNewExpression:
      case kMemberExpression:
      case kSubscriptExpression:
      case kParenthesizedExpression:
      case kBinaryExpression:
      case kUnaryExpression:
      case kSequenceExpression:
      case kTernaryExpression:
      case kAsExpression:
      case kSatisfiesExpression:
      case kNonNullExpression:
      case kExpressionStatement:
      case kTypeQuery:
      case kAssignmentPattern:
      case kObjectAssignmentPattern:
        return tree[id].parent != at;
      default:
        return true;
    }
  }
  return true;
}

const Vocabulary& VocabularyOf(Grammar grammar) {
  static const Vocabulary javascript(Grammar::kJavaScript, kKinds, kFields);
  static const Vocabulary typescript(Grammar::kTypeScript, kKinds, kFields);
  static const Vocabulary tsx(Grammar::kTsx, kKinds, kFields);
  if (grammar == Grammar::kTypeScript) return typescript;
  return grammar == Grammar::kTsx ? tsx : javascript;
}

}  // namespace skerry::policy::javascript
