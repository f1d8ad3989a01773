// A piece of code as a syntax tree: one flat array, in the order of the text, that a loop can walk. Nothing that reads
// it needs recursion, and nothing but syntax_tree.cpp knows the parser.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

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

// Refers to the text it was made of.
//
// A tree that is not complete has no nodes, and every tree may be asked about nodes that it does not have, kNoNode
// included: they are of no kind, without text, parent and children.
class SyntaxTree {
 public:
  // Never fails. What is longer than kMaxBytes, or takes the parser too much memory or work, is a tree without nodes
  // that is not complete. The same text always gives the same tree: nothing here depends on time.
  static SyntaxTree Parse(const Vocabulary& vocabulary, std::string_view text);
  static constexpr std::size_t kMaxBytes = 4U << 20U;

  // What the parser may take for so many bytes, in the units of parser_memory.hpp. Ordinary code takes a tenth.
  [[nodiscard]] static constexpr std::uint64_t MostWork(std::size_t bytes) {
    constexpr std::uint64_t kFree = 64U << 20U;
    constexpr std::uint64_t kForAByte = 768;
    return kFree + kForAByte * bytes;
  }
  // What it took. A long text may be parsed in halves and then once more as a whole.
  [[nodiscard]] std::uint64_t work() const { return work_; }

  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] bool has_errors() const { return has_errors_; }
  [[nodiscard]] std::size_t error_bytes() const { return error_bytes_; }
  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] NodeId size() const { return static_cast<NodeId>(nodes_.size()); }
  [[nodiscard]] const Node& operator[](NodeId id) const { return id < nodes_.size() ? nodes_[id] : kNothing; }
  [[nodiscard]] std::string_view TextOf(NodeId id) const {
    const Node& node = (*this)[id];
    return text_.substr(node.begin, node.end - node.begin);
  }

  // The first child, and the next one of the same parent; kNoNode when there is none.
  [[nodiscard]] NodeId FirstChild(NodeId id) const { return id + 1 < (*this)[id].after ? id + 1 : kNoNode; }
  [[nodiscard]] NodeId NextSibling(NodeId id) const {
    const Node& node = (*this)[id];
    return node.parent != kNoNode && node.after < (*this)[node.parent].after ? node.after : kNoNode;
  }
  // The child with this field. Only the first 64 children of a node have their fields.
  [[nodiscard]] NodeId Child(NodeId id, std::uint8_t field) const;
  // The first child that is named, and the next named sibling.
  [[nodiscard]] NodeId FirstNamedChild(NodeId id) const;
  [[nodiscard]] NodeId NextNamedSibling(NodeId id) const;

 private:
  static SyntaxTree ParseWhole(const Vocabulary& vocabulary, std::string_view text);
  static std::pair<SyntaxTree, SyntaxTree> ParseHalves(const Vocabulary& vocabulary, std::string_view text,
                                                       std::size_t half);
  void Append(const SyntaxTree& other, std::string_view text);
  void Take(const TSTree* tree, const Vocabulary& vocabulary);

  static constexpr Node kNothing{};

  std::string_view text_;
  std::vector<Node> nodes_;
  std::uint64_t work_ = 0;
  bool complete_ = false;
  bool has_errors_ = false;
  std::size_t error_bytes_ = 0;
};

}  // namespace skerry::policy
