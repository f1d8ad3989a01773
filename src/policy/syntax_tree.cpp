#include "policy/syntax_tree.hpp"

#include <algorithm>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <tree_sitter/api.h>

#include "base/utf8.hpp"

extern "C" {
const TSLanguage* tree_sitter_bash();
const TSLanguage* tree_sitter_javascript();
const TSLanguage* tree_sitter_python();
const TSLanguage* tree_sitter_tsx();
const TSLanguage* tree_sitter_typescript();
}

namespace skerry::policy {
namespace {

constexpr std::uint32_t kChildrenWithFields = 64;

// From this size on two threads parse one half each.
constexpr std::size_t kSplitFrom = std::size_t{64} << 10U;

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

// Called by the parser between some of its steps; answers whether to stop.
bool CountSteps(TSParseState* state) {
  static_cast<ParserMemory*>(state->payload)->SpendOnSteps();
  return false;
}

const char* Read(void* payload, std::uint32_t at, TSPoint, std::uint32_t* bytes) {
  const auto& text = *static_cast<const std::string_view*>(payload);
  *bytes = at < text.size() ? static_cast<std::uint32_t>(text.size() - at) : 0;
  return *bytes == 0 ? "" : text.data() + at;
}

constexpr std::int32_t kNoCharacter = -1;  // what the lexer takes for bytes that are not UTF-8

// The lexer asks for every character, also when it reads one again, so its work is counted here.
std::uint32_t Decode(const std::uint8_t* bytes, std::uint32_t length, std::int32_t* character) {
  ParserMemory::Current()->SpendOnCharacter();
  if (*bytes < 0x80U) {
    *character = *bytes;
    return 1;
  }
  const auto first = base::FirstUtf8Character({reinterpret_cast<const char*>(bytes), length});
  *character = first ? static_cast<std::int32_t>(first->point) : kNoCharacter;
  return first ? static_cast<std::uint32_t>(first->length) : 1;
}

struct Parsed {
  TSParser* parser;
  TSTree* tree;
};

// Parses. No tree when that took too much. Has no locals that need a destructor: longjmp may leave it from inside of
// the parser.
Parsed ParseText(Grammar grammar, const std::string_view& text, ParserMemory& memory) {
  if (setjmp(memory.way_out()) != 0) return {nullptr, nullptr};
  TSParser* parser = ts_parser_new();
  if (!ts_parser_set_language(parser, LanguageOf(grammar))) return {parser, nullptr};
  const TSInput input{.payload = const_cast<std::string_view*>(&text),
                      .read = Read,
                      .encoding = TSInputEncodingCustom,
                      .decode = Decode};
  const TSParseOptions options{.payload = &memory, .progress_callback = CountSteps};
  TSTree* tree = ts_parser_parse_with_options(parser, nullptr, input, options);
  memory.Open();
  return {parser, tree};
}

// Whether a statement may begin at this empty line's end.
bool BeginsStatement(std::string_view text, std::size_t gap) {
  if (gap == std::string_view::npos || gap + 2 >= text.size()) return false;
  const char first = text[gap + 2];
  return (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '@' || first == '#' ||
         first == '/';
}

// Where the second half can begin: a statement at the left margin behind an empty line, as near to the middle as
// possible. 0 when there is no such place.
std::size_t PlaceToSplit(std::string_view text) {
  constexpr int kMostTries = 200;
  const std::size_t middle = text.size() / 2;
  std::size_t before = text.rfind("\n\n", middle);
  std::size_t behind = text.find("\n\n", middle);
  for (int tries = 0; tries < kMostTries; ++tries) {
    if (before == std::string_view::npos && behind == std::string_view::npos) return 0;
    const bool nearer_behind =
        before == std::string_view::npos || (behind != std::string_view::npos && behind - middle < middle - before);
    const std::size_t gap = nearer_behind ? behind : before;
    if (BeginsStatement(text, gap)) return gap + 2;
    if (nearer_behind) {
      behind = text.find("\n\n", gap + 1);
    } else {
      before = gap == 0 ? std::string_view::npos : text.rfind("\n\n", gap - 1);
    }
  }
  return 0;
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

void SyntaxTree::Read(const Vocabulary& vocabulary, std::string_view text, const ParserLimits& limits) {
  text_ = text;
  if (text.size() > kMaxBytes) return;
  ParserMemory memory(limits);
  const auto [parser, tree] = ParseText(vocabulary.grammar_, text, memory);
  work_ = memory.work();
  peak_ = memory.peak();
  if (tree != nullptr) {
    // The parser's tree and this one exist at the same time for a moment.
    const std::size_t nodes = sizeof(Node) * ts_node_descendant_count(ts_tree_root_node(tree));
    peak_ += nodes;
    if (peak_ <= limits.memory) Take(tree, vocabulary);
  }
  if (parser != nullptr) ts_parser_delete(parser);
}

void SyntaxTree::Account() {
  budget_->NotePeak(peak_);
  budget_->Spend(work_);
  memory_.Add(nodes_.size() * sizeof(Node));
}

SyntaxTree SyntaxTree::ParseWhole(const Vocabulary& vocabulary, std::string_view text, Budget& budget,
                                  OnError on_error) {
  SyntaxTree whole(budget);
  whole.Read(
      vocabulary, text,
      {.memory = budget.memory_left(), .work = budget.work_left(), .on_error = on_error, .cancelled = budget.stop()});
  whole.Account();
  return whole;
}

SyntaxTree SyntaxTree::ParseSound(const Vocabulary& vocabulary, std::string_view text, Budget& budget) {
  if (auto halves = ParseHalves(vocabulary, text, budget)) return *std::move(halves);
  return ParseWhole(vocabulary, text, budget, OnError::kLeave);
}

SyntaxTree SyntaxTree::ParseBroken(const Vocabulary& vocabulary, std::string_view text, Budget& budget) {
  return ParseWhole(vocabulary, text, budget, OnError::kRecover);
}

SyntaxTree SyntaxTree::Parse(const Vocabulary& vocabulary, std::string_view text, Budget& budget) {
  if (auto halves = ParseHalves(vocabulary, text, budget)) return *std::move(halves);
  return ParseBroken(vocabulary, text, budget);
}

// Nothing when there is no place to split, or the place is inside of a text, a list or a block, which leaves an error
// in the first half. Each half is parsed to its end, with a share of its own, whatever becomes of the other: the result
// does not depend on which one is faster, nor on whether a thread could be started.
std::optional<SyntaxTree> SyntaxTree::ParseHalves(const Vocabulary& vocabulary, std::string_view text, Budget& budget) {
  const std::size_t half = text.size() > kSplitFrom && text.size() <= kMaxBytes ? PlaceToSplit(text) : 0;
  if (half == 0) return std::nullopt;
  const auto share = [&](std::size_t bytes) {
    const auto of = [&](std::uint64_t all) { return all / text.size() * bytes; };
    return ParserLimits{.memory = of(budget.memory_left()),
                        .work = of(budget.work_left()),
                        .on_error = OnError::kLeave,
                        .cancelled = budget.stop()};
  };
  SyntaxTree first(budget);
  SyntaxTree second(budget);
  const auto parse_second = [&, limits = share(text.size() - half)] {
    second.Read(vocabulary, text.substr(half), limits);
  };
  std::jthread other;
  try {
    other = std::jthread(parse_second);
  } catch (const std::system_error&) {
    parse_second();
  }
  first.Read(vocabulary, text.substr(0, half), share(half));
  if (other.joinable()) other.join();
  first.peak_ += second.peak_;  // both halves were in memory at the same time
  first.Account();
  second.Account();
  const bool sound = first.complete_ && second.complete_ && !first.has_errors_ && !second.has_errors_;
  if (!sound) return std::nullopt;
  first.Append(std::move(second), text);
  return first;
}

// The statements of `other` become statements of this tree's root. `text` is the text of both.
void SyntaxTree::Append(SyntaxTree other, std::string_view text) {
  const NodeId shift = size() - 1;
  const auto offset = static_cast<std::uint32_t>(text_.size());
  text_ = text;
  work_ += other.work_;
  memory_.Add(other.nodes_.size() * sizeof(Node));
  nodes_.reserve(nodes_.size() + other.nodes_.size());
  for (NodeId id = 1; id < other.size(); ++id) {
    Node node = other.nodes_[id];
    node.begin += offset;
    node.end += offset;
    node.after += shift;
    if (node.parent != 0) node.parent += shift;
    nodes_.push_back(node);
  }
  nodes_.front().after = size();
  nodes_.front().end = static_cast<std::uint32_t>(text_.size());
}

void SyntaxTree::Take(const TSTree* tree, const Vocabulary& vocabulary) {
  nodes_.reserve(ts_node_descendant_count(ts_tree_root_node(tree)));
  complete_ = true;
  has_errors_ = ts_node_has_error(ts_tree_root_node(tree));
  Cursor cursor(tree);
  std::vector<std::uint32_t> child_counts = {0};  // of the ancestors and of the current node's parent
  NodeId parent = kNoNode;
  for (;;) {
    const TSNode current = cursor.Current();
    const TSSymbol symbol = ts_node_symbol(current);
    const auto id = static_cast<NodeId>(nodes_.size());
    Node node{.begin = ts_node_start_byte(current),
              .end = ts_node_end_byte(current),
              .parent = parent,
              .kind = symbol < vocabulary.kinds_.size() ? vocabulary.kinds_[symbol] : std::uint8_t{0},
              .named = ts_node_is_named(current),
              .error = symbol == static_cast<TSSymbol>(-1) || (has_errors_ && ts_node_is_missing(current))};
    // The parser needs time for a field that grows with the number of siblings before it.
    if (child_counts.back()++ < kChildrenWithFields) node.field = vocabulary.fields_[cursor.Field()];
    const bool outermost_error = node.error && (parent == kNoNode || !nodes_[parent].error);
    if (outermost_error) error_bytes_ += std::max<std::uint32_t>(1, node.end - node.begin);
    nodes_.push_back(node);
    if (cursor.ToFirstChild()) {
      parent = id;
      child_counts.push_back(0);
      continue;
    }
    nodes_[id].after = id + 1;
    while (!cursor.ToNextSibling()) {
      if (!cursor.ToParent()) return;
      child_counts.pop_back();
      nodes_[parent].after = static_cast<NodeId>(nodes_.size());
      parent = nodes_[parent].parent;
    }
  }
}

NodeId SyntaxTree::Child(NodeId id, std::uint8_t field) const {
  std::uint32_t count = 0;
  for (NodeId child = FirstChild(id); child != kNoNode && count < kChildrenWithFields;
       child = NextSibling(child), ++count)
    if ((*this)[child].field == field) return child;
  return kNoNode;
}

NodeId SyntaxTree::FirstNamedChild(NodeId id) const {
  const NodeId child = FirstChild(id);
  return child == kNoNode || (*this)[child].named ? child : NextNamedSibling(child);
}

NodeId SyntaxTree::NextNamedSibling(NodeId id) const {
  NodeId next = NextSibling(id);
  while (next != kNoNode && !(*this)[next].named) next = NextSibling(next);
  return next;
}

}  // namespace skerry::policy
