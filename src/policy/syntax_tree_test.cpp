#include "policy/syntax_tree.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "policy/parser_memory.hpp"
#include "policy/test_budget.hpp"

namespace skerry::policy {
namespace {

enum Kind : std::uint8_t { kOther, kCall, kIdentifier, kPlus };
enum Field : std::uint8_t { kNoField, kFunction, kArguments };
constexpr auto kKinds = std::to_array<std::string_view>({"call", "identifier", "\"+\""});
constexpr auto kFields = std::to_array<std::string_view>({"function", "arguments"});

SyntaxTree Parse(std::string_view text) {
  static const Vocabulary vocabulary(Grammar::kPython, kKinds, kFields);
  return SyntaxTree::Parse(vocabulary, text, NewBudget(text.size()));
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

// A text that is long enough to be parsed in two halves.
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
  EXPECT_FALSE(SyntaxTree::Parse(shell, text, NewBudget(text.size())).complete());
  // The next parser begins with a fresh state.
  EXPECT_TRUE(SyntaxTree::Parse(shell, "ls | cat\n", NewBudget()).complete());
}

struct Text {
  Grammar grammar;
  std::string text;
};

std::string Times(std::size_t bytes, std::string_view piece) {
  std::string all;
  while (all.size() < bytes) all += piece;
  return all;
}

// Each text is the worst for its size in another way: recovering, reading again, copying much in one step.
std::vector<Text> HardTexts(std::size_t bytes) {
  return {{Grammar::kPython, Times(bytes, "{")},
          {Grammar::kPython, Times(bytes, "*a,") + "x"},
          {Grammar::kPython, Times(bytes, "\\\n") + Times(bytes / 4, "a<b>c")},
          {Grammar::kPython, Times(bytes, "f'{")},
          {Grammar::kJavaScript, "({a," + Times(bytes, "(a,\"/")},
          {Grammar::kJavaScript, Times(bytes, "a=/")},
          {Grammar::kTypeScript, Times(bytes, "a<b>(")},
          {Grammar::kTypeScript, Times(bytes, "/[") + "**: "},
          {Grammar::kShell, Times(bytes, "ls | ")},
          {Grammar::kShell, Times(bytes / 8, "&>2>&1 eval ") + Times(bytes, "cat <<A | '")},
          {Grammar::kShell, Times(bytes, "<<\"$a")},
          {Grammar::kShell, Times(bytes, "&& &&::") + Times(bytes, "{")}};
}

SyntaxTree ParseHard(const Text& hard) {
  return SyntaxTree::Parse(Vocabulary(hard.grammar, {}, {}), hard.text, NewBudget(hard.text.size()));
}

// The limit may be exceeded by the one block that was too much.
TEST(SyntaxTreeTest, TheWorstTextEndsWithinItsWork) {
  constexpr std::uint64_t kOneBlock = 10'000'000;
  std::size_t given_up = 0;
  for (const std::size_t bytes : {1'000U, 60'000U}) {
    for (const Text& hard : HardTexts(bytes)) {
      const SyntaxTree tree = ParseHard(hard);
      const std::uint64_t most = Budget::LimitsFor(hard.text.size()).work;
      EXPECT_LE(tree.work(), most + kOneBlock) << hard.text.substr(0, 20);
      given_up += tree.complete() ? 0 : 1;
    }
  }
  EXPECT_GT(given_up, 3U);
}

TEST(SyntaxTreeTest, OrdinaryCodeTakesATenthOfItsWork) {
  const std::string text =
      Times(50'000, "def f(a, b=1):\n    return [x.y(a)[0] for x in b if not x] or {'k': a * 2}\n\n");
  const SyntaxTree tree = Parse(text);
  ASSERT_TRUE(tree.complete());
  EXPECT_GT(tree.work(), text.size());
  EXPECT_LT(tree.work(), Budget::LimitsFor(text.size()).work / 10);
}

// Everything that costs the parser time must show in its work, or the limit is none. These tests notice when another
// version of the parser works in another way.
TEST(SyntaxTreeTest, RecoveringFromErrorsIsWork) {
  constexpr std::size_t kErrors = 1'000;
  const SyntaxTree tree = Parse(Times(kErrors * 8, "x = = 1\n"));
  ASSERT_TRUE(tree.complete());
  EXPECT_GT(tree.work(), kErrors * kWorkOfARecovery);
  const SyntaxTree sound = Parse(Times(kErrors * 8, "x = - 1\n"));
  EXPECT_LT(sound.work(), kErrors * kWorkOfARecovery / 2);
}

TEST(SyntaxTreeTest, ReadingAgainIsWork) {
  // The scanner looks for the end of the word again at each of its characters.
  constexpr std::size_t kCharacters = 4'000;
  static const Vocabulary shell(Grammar::kShell, {}, {});
  const SyntaxTree tree =
      SyntaxTree::Parse(shell, Times(kCharacters, "&& &&::") + Times(kCharacters, "{"), NewBudget());
  EXPECT_GT(tree.work(), kCharacters * kCharacters / 4 * kWorkOfACharacter);
}

TEST(SyntaxTreeTest, WhatAScannerKeepsIsWork) {
  // A scanner that has lost count of its here-documents goes through all of them for every token.
  static const Vocabulary shell(Grammar::kShell, {}, {});
  const auto work_of = [&](std::size_t bytes) {
    return SyntaxTree::Parse(shell, Times(bytes, "cat <<A | {a,a=b "), NewBudget()).work();
  };
  EXPECT_GT(work_of(64'000), 8 * work_of(16'000));
}

auto PartsOf(const Node& node) {
  return std::tuple(node.begin, node.end, node.parent, node.after, node.kind, node.field, node.named, node.error);
}

void ExpectSame(const SyntaxTree& one, const SyntaxTree& other) {
  EXPECT_EQ(one.complete(), other.complete());
  EXPECT_EQ(one.has_errors(), other.has_errors());
  EXPECT_EQ(one.error_bytes(), other.error_bytes());
  EXPECT_EQ(one.work(), other.work());
  ASSERT_EQ(one.size(), other.size());
  for (NodeId id = 0; id < one.size(); ++id) ASSERT_EQ(PartsOf(one[id]), PartsOf(other[id])) << id;
}

// Threads that do nothing but take the processor from others.
class Load {
 public:
  explicit Load(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      threads_.emplace_back([this] {
        while (!done_) ++turns_;
      });
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  ~Load() { done_ = true; }

 private:
  std::atomic<bool> done_ = false;
  std::atomic<std::size_t> turns_ = 0;
  std::vector<std::jthread> threads_;
};

// The same to the last unit of work, since the work decides.
TEST(SyntaxTreeTest, ABusyMachineGivesTheSameTreeForTheSameWork) {
  const std::string statements = ManyStatements(4'000);  // parsed in halves
  std::vector<Text> texts = HardTexts(10'000);
  texts.push_back({Grammar::kPython, statements});
  texts.push_back({Grammar::kPython, statements + "x = (\n\n" + statements});
  std::vector<SyntaxTree> quiet;
  quiet.reserve(texts.size());
  for (const Text& text : texts) quiet.push_back(ParseHard(text));
  const Load load(std::size_t{2} * std::thread::hardware_concurrency());
  for (std::size_t i = 0; i < texts.size(); ++i) ExpectSame(quiet[i], ParseHard(texts[i]));
}

TEST(SyntaxTreeTest, WhatWasParsedBeforeChangesNothing) {
  const std::vector<Text> texts = HardTexts(8'000);
  std::vector<SyntaxTree> forwards;
  forwards.reserve(texts.size());
  for (const Text& text : texts) forwards.push_back(ParseHard(text));
  for (std::size_t i = texts.size(); i-- > 0;) ExpectSame(forwards[i], ParseHard(texts[i]));
}

}  // namespace
}  // namespace skerry::policy
