// Evaluator: what the evaluations of Python and of JavaScript have in common. Every node of a tree gets its value when
// all nodes inside it have theirs; texts are put together as far as their parts are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/identifiers.hpp"
#include "policy/names.hpp"
#include "policy/syntax_tree.hpp"
#include "policy/values.hpp"

namespace skerry::policy {

// The text of which nothing is known.
inline const std::string kUnknownText(1, kHole);

class Evaluator {
 public:
  [[nodiscard]] Value ValueOf(NodeId id) const { return values_[id]; }
  [[nodiscard]] const ValuePool& pool() const { return pool_; }
  // With kHole for what is not known, and for a literal that is very long; nothing when the value is no text.
  [[nodiscard]] std::optional<std::string> TextOf(Value value) const;
  // Each of the texts that the value can be. True when it can only be one of them.
  template <typename Visitor>
  bool ForEachText(Value value, Visitor&& visit) const {
    bool all = true;
    pool_.ForEach(value, [&](Value each) {
      const auto text = TextOf(each);
      if (text) visit(*text);
      all &= text && text->find(kHole) == std::string::npos;
    });
    return all;
  }
  // The text of a literal of any length.
  [[nodiscard]] std::string LiteralText(NodeId id) const;

  // An identifier as the language reads it: spellings that it takes for the same are the same.
  [[nodiscard]] std::string_view Normal(std::string_view identifier) { return spellings_.Normal(identifier); }
  // One of the language's own names; kNoName when the table has none.
  [[nodiscard]] NameId Own(std::string_view name) const { return names_.Member(own_, name); }

 protected:
  static constexpr std::size_t kMaxText = 4096;      // of what is put together; what is longer, the pool does not keep
  static constexpr std::size_t kMaxListItems = 256;  // of a list of texts that are joined

  struct Language {
    std::string_view own;    // the root of the language's own names
    Spellings::Reader read;  // how it reads identifiers
    std::uint8_t part;       // the kind of node that stands in a literal for a value: `{x}`, `${x}`
  };
  // Both are borrowed.
  Evaluator(const SyntaxTree& tree, const Names& names, const Language& language);
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;
  ~Evaluator() = default;

  // Gives every node the value that `evaluate` says, when all nodes inside it have theirs. Another pass follows, up to
  // four in all, when a name that was looked up before has got another value, which sets news_.
  template <typename Evaluate>
  void EvaluateAll(Evaluate&& evaluate) {
    constexpr int kMaxPasses = 4;
    std::vector<NodeId> open;
    for (int pass = 0; pass < kMaxPasses; ++pass) {
      news_ = false;
      const auto close = [&](NodeId until) {
        while (!open.empty() && tree_[open.back()].after <= until) {
          values_[open.back()] = evaluate(open.back());
          open.pop_back();
        }
      };
      for (NodeId id = 0; tree_.Reaches(id); ++id) {
        close(id);
        open.push_back(id);
      }
      if (tree_.budget().IsOver()) return;
      close(tree_.size());
      if (!news_) return;
    }
  }

  virtual Value MemberOf(Value object, std::string_view name) = 0;
  // The expression in a part of a literal; kNoNode when there is none.
  [[nodiscard]] virtual NodeId ExpressionIn(NodeId part) const = 0;

  struct Literal {
    std::string text;
    bool raw = false;  // no escapes in it
  };
  // Adds what a piece of a literal that is no part stands for. `written` is the piece as it stands in the code.
  virtual void AppendPiece(std::uint8_t kind, std::string_view written, Literal& literal) const = 0;

  // A literal; one with parts is put together when its parts are known, so that none is a part of itself.
  Value EvaluateString(NodeId id);
  // What a name means that may be the language's own: one of those, or a module that is there without an import, or
  // `value`. `bound` is what the code itself binds the name to.
  Value OwnOr(std::string_view name, Value bound, Value value);
  Value MembersNamed(Value object, Value names);
  // `before + after`, unknown where neither is a text.
  Value Sum(const std::optional<std::string>& before, const std::optional<std::string>& after);
  // The items of a list, with a text between them. Unknown when they are too many or too long.
  Value Joined(NodeId list, std::string_view between);

  const SyntaxTree& tree_;
  const Names& names_;
  const NameId own_;
  const std::uint8_t part_;
  HeldMemory memory_;
  ValuePool pool_;
  Spellings spellings_;
  Bindings bindings_;
  std::vector<Value> values_;
  bool news_ = false;

 private:
  [[nodiscard]] bool HasParts(NodeId literal) const;
  [[nodiscard]] std::string PartText(Value value) const;
};

}  // namespace skerry::policy
