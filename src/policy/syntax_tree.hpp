// A piece of code as a syntax tree: one flat array, in the order of the text, that a loop can walk. Nothing that reads
// it needs recursion, and nothing but syntax_tree.cpp knows the parser.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/budget.hpp"
#include "policy/parser_memory.hpp"

struct TSTree;

namespace skerry::policy {

enum class Grammar { kPython, kJavaScript, kTypeScript, kTsx, kShell };

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = ~NodeId{0};

// The names of a grammar that a reader wants to tell apart: kinds of nodes, and fields (the role of a child). The place
// of a name in its list, counted from 1, is its number in the tree; everything else is 0. The name of a token such as
// `+` is written in double quotes: "\"+\"".
class Vocabulary {
 public:
  Vocabulary(Grammar grammar, std::span<const std::string_view> kinds, std::span<const std::string_view> fields);

  [[nodiscard]] Grammar grammar() const { return grammar_; }

 private:
  friend class SyntaxTree;
  Grammar grammar_;
  std::vector<std::uint8_t> kinds_;   // by the grammar's own number
  std::vector<std::uint8_t> fields_;  // the same for fields
};

struct Node {
  std::uint32_t begin = 0;  // in bytes of the text
  std::uint32_t end = 0;
  NodeId parent = kNoNode;
  NodeId after = 0;        // the node behind all of this one's descendants; those are id+1 to after-1
  std::uint8_t kind = 0;   // of the vocabulary
  std::uint8_t field = 0;  // of the vocabulary
  bool named = false;      // false for punctuation and keywords
  bool error = false;      // the text here could not be parsed, or something is missing here
};

// A tree refers to the text it was made of, and to the budget: reading the tree is work.
//
// A tree that is not complete has no nodes, and every tree may be asked about nodes that it does not have, kNoNode
// included: they are of no kind, without text, parent and children.
class SyntaxTree {
 public:
  // A tree that is not complete.
  explicit SyntaxTree(Budget& budget) : budget_(&budget), memory_(budget) {}

  // Never fails. What is longer than kMaxBytes, or takes the parser more memory or work than the budget has, is a tree
  // without nodes that is not complete. The same text and budget always give the same tree: nothing here depends on
  // time.
  static SyntaxTree Parse(const Vocabulary& vocabulary, std::string_view text, Budget& budget);
  // The two halves of Parse, for callers that do something else in between. For ParseSound a text with an error is not
  // complete …
  static SyntaxTree ParseSound(const Vocabulary& vocabulary, std::string_view text, Budget& budget);
  // … and ParseBroken is for texts that have one.
  static SyntaxTree ParseBroken(const Vocabulary& vocabulary, std::string_view text, Budget& budget);
  static constexpr std::size_t kMaxBytes = 4U << 20U;

  // The work that the parser took. A long text may be parsed in halves and then once more as a whole.
  [[nodiscard]] std::uint64_t work() const { return work_; }

  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] bool has_errors() const { return has_errors_; }
  [[nodiscard]] std::size_t error_bytes() const { return error_bytes_; }
  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] NodeId size() const { return static_cast<NodeId>(nodes_.size()); }
  [[nodiscard]] Budget& budget() const { return *budget_; }
  // Whether a walk goes on to this node: it is there, and the budget is not spent.
  [[nodiscard]] bool Reaches(NodeId id) const { return id < nodes_.size() && budget_->Spend(kWorkOfANode); }
  [[nodiscard]] const Node& operator[](NodeId id) const { return id < nodes_.size() ? nodes_[id] : kNothing; }
  // The text of a node. Its length is counted as work: the caller will look at all of it.
  [[nodiscard]] std::string_view TextOf(NodeId id) const {
    const Node& node = (*this)[id];
    budget_->Spend(WorkOfReading(node.end - node.begin));
    return text_.substr(node.begin, node.end - node.begin);
  }
  // The beginning of a node's text, for callers that only show or compare it: less work.
  [[nodiscard]] std::string_view BeginningOf(NodeId id) const {
    constexpr std::uint32_t kMost = 256;
    const Node& node = (*this)[id];
    return text_.substr(node.begin, std::min(node.end - node.begin, kMost));
  }
  // Whether the node's text is this text, and whether it begins with it: less work.
  [[nodiscard]] bool Is(NodeId id, std::string_view text) const {
    const Node& node = (*this)[id];
    return node.end - node.begin == text.size() && BeginsWith(id, text);
  }
  [[nodiscard]] bool BeginsWith(NodeId id, std::string_view text) const {
    const Node& node = (*this)[id];
    return text_.substr(node.begin, node.end - node.begin).starts_with(text);
  }

  // The first child, and the next one of the same parent; kNoNode when there is none.
  [[nodiscard]] NodeId FirstChild(NodeId id) const { return id + 1 < (*this)[id].after ? id + 1 : kNoNode; }
  [[nodiscard]] NodeId NextSibling(NodeId id) const {
    const Node& node = (*this)[id];
    budget_->Spend(kWorkOfAStep);
    return node.parent != kNoNode && node.after < (*this)[node.parent].after ? node.after : kNoNode;
  }
  [[nodiscard]] NodeId Parent(NodeId id) const {
    budget_->Spend(kWorkOfAStep);
    return (*this)[id].parent;
  }
  // The child with this field. Only the first 64 children of a node have their fields.
  [[nodiscard]] NodeId Child(NodeId id, std::uint8_t field) const;
  // The first child that is named, and the next named sibling.
  [[nodiscard]] NodeId FirstNamedChild(NodeId id) const;
  [[nodiscard]] NodeId NextNamedSibling(NodeId id) const;

 private:
  static SyntaxTree ParseWhole(const Vocabulary& vocabulary, std::string_view text, Budget& budget, OnError on_error);
  static std::optional<SyntaxTree> ParseHalves(const Vocabulary& vocabulary, std::string_view text, Budget& budget);
  // Parses within the limits, which are a share of the budget. Does not touch the budget itself: two threads can do
  // this at once.
  void Read(const Vocabulary& vocabulary, std::string_view text, const ParserLimits& limits);
  // Takes the work and memory of Read from the budget.
  void Account();
  void Append(SyntaxTree other, std::string_view text);
  void Take(const TSTree* tree, const Vocabulary& vocabulary);

  static constexpr Node kNothing{};

  Budget* budget_;
  HeldMemory memory_;  // the nodes
  std::string_view text_;
  std::vector<Node> nodes_;
  std::uint64_t work_ = 0;
  std::size_t peak_ = 0;  // of the parser, in bytes
  bool complete_ = false;
  bool has_errors_ = false;
  std::size_t error_bytes_ = 0;
};

}  // namespace skerry::policy
