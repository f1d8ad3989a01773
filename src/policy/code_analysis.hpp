// What the analyses of Python and of JavaScript have in common: a tree, what its expressions are, and where what is
// found is reported.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/execution.hpp"
#include "policy/evaluator.hpp"
#include "policy/report.hpp"
#include "policy/syntax_tree.hpp"
#include "policy/texts.hpp"
#include "policy/tokens.hpp"

namespace skerry::policy {

// `Evaluation` is the Evaluator of the language. Tree, names and report are borrowed.
template <typename Evaluation>
class CodeAnalysis {
 protected:
  using Words = std::vector<std::optional<std::string>>;

  CodeAnalysis(const SyntaxTree& tree, const TokenTable& table, Report& report)
      : tree_(tree), names_(table.names), table_(table), evaluation_(tree, table.names), report_(report) {}

  void Add(const Rule& rule, NodeId id) { report_.Add(rule, tree_.text(), tree_[id].begin, tree_[id].end); }

  // What does not parse is searched for known names.
  void ReportError(NodeId id) {
    const NodeId parent = tree_[id].parent;
    if (parent != kNoNode && tree_[parent].error) return;
    Add(kUnparsed, id);
    ReportTokens(tree_.TextOf(id), tree_[id].begin, table_, report_);
  }

  // As Evaluator::TextOf; nothing for kNoNode.
  [[nodiscard]] std::optional<std::string> TextOf(NodeId id) const {
    return id == kNoNode ? std::nullopt : evaluation_.TextOf(evaluation_.ValueOf(id));
  }
  // The value can only be texts that are known.
  [[nodiscard]] bool IsKnownText(NodeId id) const {
    return evaluation_.ForEachText(evaluation_.ValueOf(id), [](const std::string&) {});
  }
  // The text that the code puts together here; nullptr where it does not, or where nothing of it is known.
  [[nodiscard]] const std::string* AssembledText(NodeId id) const {
    const Value value = evaluation_.ValueOf(id);
    const bool assembled = value.kind == Value::Kind::kText && value != ValuePool::kSomeText;
    return assembled ? &evaluation_.pool().TextAt(value.id) : nullptr;
  }

  // Code in code: a literal of any length once; what is made of parts as far as it is known.
  void NestCode(NodeId id, core::Language language) {
    if (id == kNoNode) return;
    const std::string_view unknown = language == core::Language::kShell ? "${unknown}" : "unknown";
    evaluation_.pool().ForEach(evaluation_.ValueOf(id), [&](Value value) {
      if (value.kind == Value::Kind::kLiteral) {
        if (nested_.insert({value.id, language}).second)
          report_.Nest(language, Filled(evaluation_.LiteralText(value.id), unknown), tree_[id].begin);
      } else if (value.kind == Value::Kind::kText) {
        report_.Nest(language, Filled(evaluation_.pool().TextAt(value.id), unknown), tree_[id].begin);
      }
    });
  }

  // A word of a command: one with a hole is not known.
  static std::optional<std::string> WholeWord(std::optional<std::string> text) {
    if (text && text->find(kHole) != std::string::npos) text.reset();
    return text;
  }
  // Adds the items of a list.
  void AddWords(NodeId list, Words& words) const {
    for (NodeId each = tree_.FirstNamedChild(list); each != kNoNode; each = tree_.NextNamedSibling(each))
      words.push_back(WholeWord(TextOf(each)));
  }

  const SyntaxTree& tree_;
  const Names& names_;
  TokenTable table_;
  Evaluation evaluation_;
  Report& report_;

 private:
  std::set<std::pair<NodeId, core::Language>> nested_;
};

// The end of an analysis: what could not be read to its end is reported as such, and searched for known names.
inline void ReportWhatIsLeft(const SyntaxTree& tree, std::string_view code, const TokenTable& table, Report& report) {
  if (tree.complete() && !report.budget().IsOver()) return;
  report.Add(kNotAnalysed, code, 0, static_cast<std::uint32_t>(code.size()));
  ReportTokens(code, 0, table, report);
}

}  // namespace skerry::policy
