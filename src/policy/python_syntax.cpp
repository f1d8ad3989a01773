#include "policy/python_syntax.hpp"

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
    "\"+\"",
    "\"%\"",
});
static_assert(kKinds.size() == kPercent);

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

}  // namespace

const Vocabulary& TheVocabulary() {
  static const Vocabulary vocabulary(Grammar::kPython, kKinds, kFields);
  return vocabulary;
}

}  // namespace skerry::policy::python
