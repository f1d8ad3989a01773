#include "policy/syntax_tree.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include <tree_sitter/api.h>

extern "C" {
const TSLanguage* tree_sitter_bash();
const TSLanguage* tree_sitter_javascript();
const TSLanguage* tree_sitter_python();
const TSLanguage* tree_sitter_tsx();
const TSLanguage* tree_sitter_typescript();
}

namespace skerry::policy {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kChildrenWithFields = 64;

const TSLanguage* LanguageOf(Grammar grammar) {
  switch (grammar) {
    case Grammar::kPython:
      return tree_sitter_python();
    case Grammar::kJavaScript:
      return tree_sitter_javascript();
    case Grammar::kTypeScript:
      return tree_sitter_typescript();
    case Grammar::kTsx:
      return tree_sitter_tsx();
    case Grammar::kShell:
      return tree_sitter_bash();
  }
  return nullptr;
}

std::uint8_t NumberOf(std::span<const std::string_view> names, std::string_view name) {
  for (std::size_t at = 0; at < names.size(); ++at)
    if (names[at] == name) return static_cast<std::uint8_t>(at + 1);
  return 0;
}

// What the parser may take. Its recovery from errors can be quadratic; ordinary code needs a hundredth of this. The
// clock is only a brake: what it stops is taken for dangerous, so a slow machine errs to the safe side.
struct Budget {
  explicit Budget(std::size_t bytes)
      : checks(256 + bytes / 8),
        until(Clock::now() + std::chrono::milliseconds(250) + std::chrono::microseconds(bytes)) {}
  std::size_t checks;
  Clock::time_point until;
};

bool IsSpent(TSParseState* state) {
  auto& budget = *static_cast<Budget*>(state->payload);
  return budget.checks-- == 0 || Clock::now() >= budget.until;
}

const char* Read(void* payload, std::uint32_t at, TSPoint, std::uint32_t* bytes) {
  const auto& text = *static_cast<const std::string_view*>(payload);
  *bytes = at < text.size() ? static_cast<std::uint32_t>(text.size() - at) : 0;
  return *bytes == 0 ? "" : text.data() + at;
}

struct DeleteTree {
  void operator()(TSTree* tree) const { ts_tree_delete(tree); }
};
struct DeleteParser {
  void operator()(TSParser* parser) const { ts_parser_delete(parser); }
};
using TreePointer = std::unique_ptr<TSTree, DeleteTree>;
using ParserPointer = std::unique_ptr<TSParser, DeleteParser>;

TreePointer ParseText(Grammar grammar, std::string_view text) {
  const ParserPointer parser(ts_parser_new());
  if (!ts_parser_set_language(parser.get(), LanguageOf(grammar))) return nullptr;
  Budget budget(text.size());
  const TSInput input{.payload = &text, .read = Read, .encoding = TSInputEncodingUTF8, .decode = nullptr};
  const TSParseOptions options{.payload = &budget, .progress_callback = IsSpent};
  return TreePointer(ts_parser_parse_with_options(parser.get(), nullptr, input, options));
}

class Cursor {
 public:
  explicit Cursor(const TSTree* tree) : cursor_(ts_tree_cursor_new(ts_tree_root_node(tree))) {}
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  ~Cursor() { ts_tree_cursor_delete(&cursor_); }

  [[nodiscard]] TSNode Current() const { return ts_tree_cursor_current_node(&cursor_); }
  [[nodiscard]] TSFieldId Field() const { return ts_tree_cursor_current_field_id(&cursor_); }
  bool ToFirstChild() { return ts_tree_cursor_goto_first_child(&cursor_); }
  bool ToNextSibling() { return ts_tree_cursor_goto_next_sibling(&cursor_); }
  bool ToParent() { return ts_tree_cursor_goto_parent(&cursor_); }

 private:
  TSTreeCursor cursor_;
};

}  // namespace

Vocabulary::Vocabulary(Grammar grammar, std::span<const std::string_view> kinds,
                       std::span<const std::string_view> fields)
    : grammar_(grammar) {
  const TSLanguage* language = LanguageOf(grammar);
  const std::uint32_t symbols = ts_language_symbol_count(language);
  for (std::uint32_t at = 0; at < symbols; ++at) {
    const auto symbol = static_cast<TSSymbol>(at);
    const std::string name = ts_language_symbol_name(language, symbol);
    const bool named = ts_language_symbol_type(language, symbol) == TSSymbolTypeRegular;
    kinds_.push_back(NumberOf(kinds, named ? name : "\"" + name + "\""));
  }
  const std::uint32_t count = ts_language_field_count(language);
  fields_.push_back(0);
  for (std::uint32_t at = 1; at <= count; ++at)
    fields_.push_back(NumberOf(fields, ts_language_field_name_for_id(language, static_cast<TSFieldId>(at))));
}

SyntaxTree SyntaxTree::Parse(const Vocabulary& vocabulary, std::string_view text) {
  SyntaxTree result;
  result.text_ = text;
  if (text.size() > kMaxBytes) return result;
  const TreePointer tree = ParseText(vocabulary.grammar_, text);
  if (tree == nullptr) return result;
  result.nodes_.reserve(ts_node_descendant_count(ts_tree_root_node(tree.get())));
  result.complete_ = true;
  result.has_errors_ = ts_node_has_error(ts_tree_root_node(tree.get()));
  Cursor cursor(tree.get());
  std::vector<std::uint32_t> child_counts = {0};  // of the ancestors and of the current node's parent
  NodeId parent = kNoNode;
  for (;;) {
    const TSNode current = cursor.Current();
    const TSSymbol symbol = ts_node_symbol(current);
    const auto id = static_cast<NodeId>(result.nodes_.size());
    Node node{.begin = ts_node_start_byte(current),
              .end = ts_node_end_byte(current),
              .parent = parent,
              .kind = symbol < vocabulary.kinds_.size() ? vocabulary.kinds_[symbol] : std::uint8_t{0},
              .named = ts_node_is_named(current),
              .error = symbol == static_cast<TSSymbol>(-1) || (result.has_errors_ && ts_node_is_missing(current))};
    // The parser finds a field in time that grows with the number of siblings before.
    if (child_counts.back()++ < kChildrenWithFields) node.field = vocabulary.fields_[cursor.Field()];
    const bool outermost_error = node.error && (parent == kNoNode || !result.nodes_[parent].error);
    if (outermost_error) result.error_bytes_ += std::max<std::uint32_t>(1, node.end - node.begin);
    result.nodes_.push_back(node);
    if (cursor.ToFirstChild()) {
      parent = id;
      child_counts.push_back(0);
      continue;
    }
    result.nodes_[id].after = id + 1;
    while (!cursor.ToNextSibling()) {
      if (!cursor.ToParent()) return result;
      child_counts.pop_back();
      result.nodes_[parent].after = static_cast<NodeId>(result.nodes_.size());
      parent = result.nodes_[parent].parent;
    }
  }
}

NodeId SyntaxTree::Child(NodeId id, std::uint8_t field) const {
  std::uint32_t count = 0;
  for (NodeId child = FirstChild(id); child != kNoNode && count < kChildrenWithFields;
       child = NextSibling(child), ++count)
    if (nodes_[child].field == field) return child;
  return kNoNode;
}

NodeId SyntaxTree::FirstNamedChild(NodeId id) const {
  const NodeId child = FirstChild(id);
  return child == kNoNode || nodes_[child].named ? child : NextNamedSibling(child);
}

NodeId SyntaxTree::NextNamedSibling(NodeId id) const {
  NodeId next = NextSibling(id);
  while (next != kNoNode && !nodes_[next].named) next = NextSibling(next);
  return next;
}

}  // namespace skerry::policy
