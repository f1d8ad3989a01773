#include "policy/javascript_syntax.hpp"

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
});
static_assert(kKinds.size() == kJsxSelfClosingElement);

// In the order of Field.
constexpr auto kFields = std::to_array<std::string_view>({
    "object",    "property", "index",  "function", "constructor", "arguments",   "left",
    "right",     "operator", "name",   "value",    "key",         "body",        "parameters",
    "parameter", "alias",    "source", "pattern",  "consequence", "alternative", "handler",
});
static_assert(kFields.size() == kFieldHandler);

}  // namespace

const Vocabulary& VocabularyOf(Grammar grammar) {
  static const Vocabulary javascript(Grammar::kJavaScript, kKinds, kFields);
  static const Vocabulary typescript(Grammar::kTypeScript, kKinds, kFields);
  static const Vocabulary tsx(Grammar::kTsx, kKinds, kFields);
  if (grammar == Grammar::kTypeScript) return typescript;
  return grammar == Grammar::kTsx ? tsx : javascript;
}

}  // namespace skerry::policy::javascript
