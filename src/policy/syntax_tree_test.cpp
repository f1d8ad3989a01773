#include "policy/syntax_tree.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace skerry::policy {
namespace {

enum Kind : std::uint8_t { kOther, kCall, kIdentifier, kPlus };
enum Field : std::uint8_t { kNoField, kFunction, kArguments };
constexpr auto kKinds = std::to_array<std::string_view>({"call", "identifier", "\"+\""});
constexpr auto kFields = std::to_array<std::string_view>({"function", "arguments"});

SyntaxTree Parse(std::string_view text) {
  static const Vocabulary vocabulary(Grammar::kPython, kKinds, kFields);
  return SyntaxTree::Parse(vocabulary, text);
}

NodeId FirstOf(const SyntaxTree& tree, std::uint8_t kind) {
  for (NodeId id = 0; id < tree.size(); ++id)
    if (tree[id].kind == kind) return id;
  return kNoNode;
}

TEST(SyntaxTreeTest, NodesStandInTheOrderOfTheText) {
  const SyntaxTree tree = Parse("f(a) + g(b)\n");
  ASSERT_TRUE(tree.complete());
  EXPECT_FALSE(tree.has_errors());
  for (NodeId id = 1; id < tree.size(); ++id) {
    EXPECT_LT(tree[id].parent, id);
    EXPECT_GE(tree[id].begin, tree[id - 1].begin);
    EXPECT_LE(tree[id].after, tree[tree[id].parent].after);
  }
}

TEST(SyntaxTreeTest, KindsAndFieldsAreThoseOfTheVocabulary) {
  const SyntaxTree tree = Parse("f(a) + 1");
  const NodeId call = FirstOf(tree, kCall);
  ASSERT_NE(call, kNoNode);
  EXPECT_EQ(tree.TextOf(call), "f(a)");
  EXPECT_EQ(tree.TextOf(tree.Child(call, kFunction)), "f");
  EXPECT_EQ(tree.TextOf(tree.Child(call, kArguments)), "(a)");
  EXPECT_EQ(tree.TextOf(FirstOf(tree, kPlus)), "+");
  EXPECT_FALSE(tree[FirstOf(tree, kPlus)].named);
}

TEST(SyntaxTreeTest, NamedChildrenLeaveOutPunctuation) {
  const SyntaxTree tree = Parse("f(a, b)");
  const NodeId list = tree.Child(FirstOf(tree, kCall), kArguments);
  const NodeId first = tree.FirstNamedChild(list);
  ASSERT_NE(first, kNoNode);
  EXPECT_EQ(tree.TextOf(first), "a");
  EXPECT_EQ(tree.TextOf(tree.NextNamedSibling(first)), "b");
  EXPECT_EQ(tree.NextNamedSibling(tree.NextNamedSibling(first)), kNoNode);
}

TEST(SyntaxTreeTest, ErrorsAreCounted) {
  const SyntaxTree tree = Parse("x = = 1\n");
  EXPECT_TRUE(tree.complete());
  EXPECT_TRUE(tree.has_errors());
  EXPECT_GT(tree.error_bytes(), 0U);
}

TEST(SyntaxTreeTest, WhatIsTooLongIsNotComplete) {
  const std::string text(SyntaxTree::kMaxBytes + 1, ' ');
  EXPECT_FALSE(Parse(text).complete());
  EXPECT_TRUE(Parse(std::string(1000, ' ')).complete());
}

TEST(SyntaxTreeTest, AnyBytesAreTaken) {
  EXPECT_TRUE(Parse(std::string_view("x = '\0\xFF\xC0'\n", 10)).complete());
  EXPECT_TRUE(Parse("").complete());
}

// Longer than what one thread parses.
std::string ManyStatements(std::size_t count) {
  std::string text;
  for (std::size_t at = 0; at < count; ++at) text += "call_" + std::to_string(at) + "('x', 1)\n\n";
  return text;
}

TEST(SyntaxTreeTest, HalvesThatTwoThreadsParsedAreOneTree) {
  constexpr std::size_t kCount = 20'000;
  const std::string text = ManyStatements(kCount);
  const SyntaxTree tree = Parse(text);
  ASSERT_TRUE(tree.complete());
  EXPECT_FALSE(tree.has_errors());
  std::size_t calls = 0;
  for (NodeId id = 0; id < tree.size(); ++id) {
    ASSERT_LE(tree[id].after, tree.size());
    if (tree[id].parent != kNoNode) ASSERT_LE(tree[id].after, tree[tree[id].parent].after);
    if (tree[id].kind != kCall) continue;
    EXPECT_EQ(tree.TextOf(id), "call_" + std::to_string(calls) + "('x', 1)");
    ++calls;
  }
  EXPECT_EQ(calls, kCount);
  std::size_t statements = 0;
  for (NodeId id = tree.FirstNamedChild(0); id != kNoNode; id = tree.NextNamedSibling(id)) ++statements;
  EXPECT_EQ(statements, kCount);
  EXPECT_EQ(tree[0].end, text.size());
}

TEST(SyntaxTreeTest, ATextAcrossTheMiddleIsOneText) {
  const std::string inside = ManyStatements(20'000);
  const std::string text = "x = \"\"\"\n" + inside + "\"\"\"\nf(a)\n";
  const SyntaxTree tree = Parse(text);
  EXPECT_FALSE(tree.has_errors());
  const NodeId call = FirstOf(tree, kCall);
  ASSERT_NE(call, kNoNode);
  EXPECT_EQ(tree.TextOf(call), "f(a)");
}

TEST(SyntaxTreeTest, AListAcrossTheMiddleIsOneList) {
  std::string text = "x = [\n";
  for (int at = 0; at < 20'000; ++at) text += "f(a),\n\n";
  text += "]\n";
  const SyntaxTree tree = Parse(text);
  ASSERT_TRUE(tree.complete());
  EXPECT_FALSE(tree.has_errors());
  EXPECT_EQ(tree.NextNamedSibling(tree.FirstNamedChild(0)), kNoNode);
}

void ExpectNothingAt(const SyntaxTree& tree, NodeId id) {
  EXPECT_EQ(tree[id].kind, kOther);
  EXPECT_EQ(tree[id].parent, kNoNode);
  EXPECT_FALSE(tree[id].named);
  EXPECT_EQ(tree.TextOf(id), "");
  EXPECT_EQ(tree.FirstChild(id), kNoNode);
  EXPECT_EQ(tree.NextSibling(id), kNoNode);
  EXPECT_EQ(tree.Child(id, kFunction), kNoNode);
  EXPECT_EQ(tree.FirstNamedChild(id), kNoNode);
  EXPECT_EQ(tree.NextNamedSibling(id), kNoNode);
}

TEST(SyntaxTreeTest, ATreeThatIsNotCompleteCanBeAsked) {
  const std::string text(SyntaxTree::kMaxBytes + 1, ' ');
  const SyntaxTree tree = Parse(text);
  ASSERT_FALSE(tree.complete());
  EXPECT_EQ(tree.size(), 0U);
  EXPECT_FALSE(tree.has_errors());
  EXPECT_EQ(tree.text(), text);
  for (const NodeId id : {NodeId{0}, NodeId{1}, kNoNode}) ExpectNothingAt(tree, id);
}

TEST(SyntaxTreeTest, ANodeThatIsNotThereCanBeAskedAbout) {
  const SyntaxTree tree = Parse("f(a)\n");
  for (const NodeId id : {tree.size(), tree.size() + 1, kNoNode}) ExpectNothingAt(tree, id);
}

TEST(SyntaxTreeTest, WhatWouldTakeTooMuchMemoryIsLeft) {
  std::string text;
  for (int at = 0; at < 50'000; ++at) text += "ls | ";
  static const Vocabulary shell(Grammar::kShell, {}, {});
  EXPECT_FALSE(SyntaxTree::Parse(shell, text).complete());
  // And the next one begins anew.
  EXPECT_TRUE(SyntaxTree::Parse(shell, "ls | cat\n").complete());
}

}  // namespace
}  // namespace skerry::policy
