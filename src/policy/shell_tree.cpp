#include "policy/shell_tree.hpp"

#include <algorithm>
#include <array>

#include "policy/shell_word_reader.hpp"

namespace skerry::policy {
namespace {

constexpr int kMostClimbs = 16;

// In the order of ShellKind, without its first value.
constexpr auto kKinds = std::to_array<std::string_view>({"command",
                                                         "command_name",
                                                         "variable_assignment",
                                                         "file_redirect",
                                                         "heredoc_redirect",
                                                         "heredoc_start",
                                                         "heredoc_body",
                                                         "herestring_redirect",
                                                         "redirected_statement",
                                                         "pipeline",
                                                         "list",
                                                         "negated_command",
                                                         "subshell",
                                                         "command_substitution",
                                                         "process_substitution",
                                                         "function_definition",
                                                         "for_statement",
                                                         "do_group",
                                                         "compound_statement",
                                                         "declaration_command",
                                                         "unset_command",
                                                         "arithmetic_expansion",
                                                         "comment",
                                                         "\"&\"",
                                                         "file_descriptor",
                                                         "word",
                                                         "regex",
                                                         "extglob_pattern",
                                                         "string_content",
                                                         "expansion",
                                                         "raw_string"});

bool IsRedirect(ShellKind kind) {
  return kind == ShellKind::kFileRedirect || kind == ShellKind::kHereDocument || kind == ShellKind::kHereString;
}

bool IsDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Whether the text between two words is empty, or holds only continued lines.
bool IsJoined(std::string_view between) {
  while (between.starts_with("\\\n")) between.remove_prefix(2);
  return between.empty();
}

// Words that touch are one word for the shell, even where the parser has several.
class WordCollector {
 public:
  explicit WordCollector(const SyntaxTree& tree) : tree_(tree) {}

  void Add(NodeId id) {
    const Node& node = tree_[id];
    if (node.begin == node.end) return;
    if (!words_.empty() && IsJoined(tree_.text().substr(end_, node.begin - end_))) {
      words_.back() = tree_.text().substr(begin_, node.end - begin_);
    } else {
      begin_ = node.begin;
      words_.push_back(tree_.TextOf(id));
    }
    end_ = node.end;
  }

  std::vector<std::string_view> Take() { return std::move(words_); }

 private:
  const SyntaxTree& tree_;
  std::vector<std::string_view> words_;
  std::uint32_t begin_ = 0;
  std::uint32_t end_ = 0;
};

NodeId LastNamedChild(const SyntaxTree& tree, NodeId id) {
  // The last child ends where its parent does; look from behind.
  NodeId last = tree[id].after - 1;
  while (last > id && tree[last].parent != id) last = tree.Parent(last);
  return last == id ? kNoNode : last;
}

// The parser takes further words behind a redirect for its targets; they are arguments.
void AddLaterTargets(const SyntaxTree& tree, NodeId id, WordCollector& words) {
  bool first = true;
  for (NodeId child = tree.FirstNamedChild(id); child != kNoNode; child = tree.NextNamedSibling(child)) {
    if (KindOf(tree, child) == ShellKind::kDescriptor || tree[child].error) continue;
    if (!first) words.Add(child);
    first = false;
  }
}

void AddHereDocumentParts(const SyntaxTree& tree, NodeId id, std::uint8_t argument_field, ShellStatement& statement,
                          WordCollector& words) {
  for (NodeId child = tree.FirstNamedChild(id); child != kNoNode; child = tree.NextNamedSibling(child)) {
    const ShellKind kind = KindOf(tree, child);
    if (kind == ShellKind::kFileRedirect || kind == ShellKind::kHereString) {
      statement.redirects.push_back(child);
      if (kind == ShellKind::kFileRedirect) AddLaterTargets(tree, child, words);
    }
    if (tree[child].field == argument_field) words.Add(child);
  }
}

constexpr std::uint8_t kArgumentField = 1;

void AddRedirect(const SyntaxTree& tree, NodeId id, ShellStatement& statement, WordCollector& words) {
  statement.redirects.push_back(id);
  if (KindOf(tree, id) == ShellKind::kFileRedirect) AddLaterTargets(tree, id, words);
  if (KindOf(tree, id) == ShellKind::kHereDocument) AddHereDocumentParts(tree, id, kArgumentField, statement, words);
}

void AddOuterRedirects(const SyntaxTree& tree, NodeId id, ShellStatement& statement, WordCollector& words) {
  for (int count = 0; count < kMostClimbs; ++count) {
    const NodeId parent = tree[id].parent;
    if (parent == kNoNode) return;
    const ShellKind kind = KindOf(tree, parent);
    const bool groups = kind == ShellKind::kPipeline || kind == ShellKind::kList || kind == ShellKind::kNegated;
    if (kind == ShellKind::kRedirected) {
      for (const NodeId redirect : RedirectsOf(tree, parent)) AddRedirect(tree, redirect, statement, words);
    } else if (!groups || LastNamedChild(tree, parent) != id) {
      return;
    }
    id = parent;
  }
}

std::string WithoutQuotes(std::string_view word) {
  std::string plain;
  for (const char c : word)
    if (c != '\'' && c != '"' && c != '\\') plain += c;
  return plain;
}

// The place behind the line that ends the body, for a body whose end the parser missed.
std::size_t EndOfBody(std::string_view body, std::string_view delimiter) {
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t line_end = std::min(body.find('\n', at), body.size());
    std::string_view line = body.substr(at, line_end - at);
    line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
    at = std::min(line_end + 1, body.size());
    if (line == delimiter) return at;
  }
  return body.size();
}

}  // namespace

SyntaxTree ParseShell(std::string_view code, Budget& budget) {
  static constexpr auto kFields = std::to_array<std::string_view>({"argument"});
  static const Vocabulary kVocabulary(Grammar::kShell, kKinds, kFields);
  return SyntaxTree::Parse(kVocabulary, code, budget);
}

ShellRedirect ReadRedirect(const SyntaxTree& tree, NodeId id) {
  ShellRedirect redirect{.node = id};
  const std::string_view text = tree.TextOf(id);
  std::size_t at = std::min(text.find_first_of("<>&"), text.size());
  const std::size_t end = std::min(text.find_first_not_of("<>&|", at), text.size());
  const std::string_view sign = text.substr(at, end - at);
  redirect.writes = sign.contains('>');
  redirect.appends = sign.contains(">>");
  for (NodeId child = tree.FirstNamedChild(id); child != kNoNode; child = tree.NextNamedSibling(child)) {
    if (KindOf(tree, child) == ShellKind::kDescriptor || tree[child].error) continue;
    redirect.target = tree.TextOf(child);
    break;
  }
  const bool closes = end < text.size() && text[end] == '-' && sign.ends_with('&');
  const bool is_file = redirect.writes && !closes && !IsDigits(redirect.target) && !redirect.target.empty();
  redirect.descriptor = sign.ends_with('&') && !is_file;
  return redirect;
}

ShellHereDocument ReadHereDocument(const SyntaxTree& tree, NodeId id) {
  ShellHereDocument document;
  std::string delimiter;
  for (NodeId child = tree.FirstChild(id); child != kNoNode; child = tree.NextSibling(child)) {
    const std::string_view text = tree.TextOf(child);
    if (KindOf(tree, child) == ShellKind::kHereDocumentStart) {
      delimiter = WithoutQuotes(text);
      document.quoted = delimiter.size() != text.size();
    } else if (KindOf(tree, child) == ShellKind::kHereDocumentBody) {
      document.body = text;
    }
  }
  const std::size_t end = EndOfBody(document.body, delimiter);
  document.rest = document.body.substr(end);
  document.body = document.body.substr(0, end);
  return document;
}

ShellAssignment ReadAssignment(const SyntaxTree& tree, NodeId id) {
  ShellAssignment assignment;
  const std::string_view text = tree.TextOf(id);
  const std::size_t name_end = std::min(text.find_first_of("=+["), text.size());
  assignment.name = text.substr(0, name_end);
  std::size_t equals = name_end;
  assignment.element = equals < text.size() && text[equals] == '[';
  if (assignment.element) equals = text.find(']', equals);
  equals = equals == std::string_view::npos ? equals : text.find('=', equals);
  if (equals == std::string_view::npos) return assignment;
  assignment.appends = equals > 0 && text[equals - 1] == '+';
  assignment.value = text.substr(equals + 1);
  assignment.array = assignment.value.starts_with('(');
  if (assignment.array) {
    assignment.value.remove_prefix(1);
    if (assignment.value.ends_with(')')) assignment.value.remove_suffix(1);
  }
  return assignment;
}

ShellAssignment ReadDefault(const SyntaxTree& tree, NodeId id) {
  const std::string_view text = tree.TextOf(id);
  if (!text.starts_with("${")) return {};
  const std::size_t begin = text.starts_with("${!") ? 3 : 2;
  const std::size_t end = begin + NameLength(text.substr(begin));
  const std::string_view rest = text.substr(end);
  if (!rest.starts_with("=") && !rest.starts_with(":=")) return {};
  const std::string_view value = rest.substr(rest.find('=') + 1);
  return {.name = text.substr(begin, end - begin),
          .value = value.substr(0, value.empty() ? 0 : value.size() - 1),
          .indirect = begin == 3};
}

std::vector<NodeId> RedirectsOf(const SyntaxTree& tree, NodeId id) {
  std::vector<NodeId> redirects;
  for (NodeId child = tree.FirstNamedChild(id); child != kNoNode; child = tree.NextNamedSibling(child))
    if (IsRedirect(KindOf(tree, child))) redirects.push_back(child);
  return redirects;
}

ShellStatement ReadStatement(const SyntaxTree& tree, NodeId id) {
  ShellStatement statement;
  WordCollector words(tree);
  for (NodeId child = tree.FirstChild(id); child != kNoNode; child = tree.NextSibling(child)) {
    const ShellKind kind = KindOf(tree, child);
    if (kind == ShellKind::kAssignment || kind == ShellKind::kComment) continue;
    if (IsRedirect(kind)) {
      AddRedirect(tree, child, statement, words);
    } else {
      words.Add(child);
    }
  }
  AddOuterRedirects(tree, id, statement, words);
  statement.words = words.Take();
  return statement;
}

}  // namespace skerry::policy
