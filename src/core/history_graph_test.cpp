#include "core/history_graph.hpp"

#include <algorithm>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skerry::core {
namespace {

using testing::HasSubstr;
using testing::Not;

HistoryEntry Entry(const std::string& id, std::uint64_t sequence) {
  HistoryEntry entry;
  entry.execution.id = id;
  entry.execution.sequence = sequence;
  entry.execution.kind = "run";
  entry.execution.state = ExecutionState::kDone;
  entry.execution.outcome = "exited";
  return entry;
}

std::vector<HistoryEntry> Sample() {
  std::vector<HistoryEntry> entries = {Entry("a", 1), Entry("b", 2), Entry("c", 5)};
  entries[0].execution.language = "python";
  entries[0].execution.what = "print(1)\nprint(2)";
  entries[0].uses = {{.path = "in.csv", .how = FileUse::How::kNamed, .sha256 = "00112233445566"}};
  entries[0].changes = {{.path = "out.txt", .sha256 = "aabbccddeeff"}};
  entries[1].execution.caused_by = "a";
  entries[1].execution.exit_code = 3;
  entries[1].uses = {{.path = "out.txt", .sha256 = "aabbccddeeff"}};
  entries[1].changes = {{.path = "out.txt", .action = FileAction::kChanged, .sha256 = "ffff"}};
  entries[2].execution.state = ExecutionState::kRunning;
  entries[2].changes = {{.path = "out.txt", .action = FileAction::kRemoved}};
  return entries;
}

TEST(MermaidTest, ShowsExecutionsFilesAndWhatLeadsToWhat) {
  EXPECT_EQ(ToMermaid(Sample()),
            "flowchart LR\n"
            "  e1[\"1 run python<br/>exited 0<br/>print#40;1#41;\"]\n"
            "  f1([\"in.csv<br/>00112233\"])\n"
            "  f2([\"out.txt<br/>aabbccdd\"])\n"
            "  e2[\"2 run<br/>exited 3\"]\n"
            "  f3([\"out.txt<br/>ffff\"])\n"
            "  e3[\"5 run<br/>running\"]\n"
            "  f1 -.->|named| e1\n"
            "  e1 -->|wrote| f2\n"
            "  f2 -->|read| e2\n"
            "  e2 -->|wrote| f3\n"
            "  e3 -.->|removed| f3\n"
            "  e1 ==>|caused| e2\n");
}

TEST(DotTest, ShowsTheSame) {
  const std::string dot = ToDot(Sample());
  EXPECT_TRUE(dot.starts_with("digraph history {\n"));
  EXPECT_TRUE(dot.ends_with("}\n"));
  EXPECT_THAT(dot, HasSubstr("  e1 [shape=box, label=\"1 run python\\nexited 0\\nprint(1)\"];\n"));
  EXPECT_THAT(dot, HasSubstr("  f2 [shape=ellipse, label=\"out.txt\\naabbccdd\"];\n"));
  EXPECT_THAT(dot, HasSubstr("  f2 -> e2 [label=\"read\", style=solid];\n"));
  EXPECT_THAT(dot, HasSubstr("  e3 -> f3 [label=\"removed\", style=dashed];\n"));
  EXPECT_THAT(dot, HasSubstr("  e1 -> e2 [label=\"caused\", style=bold];\n"));
}

TEST(HistoryGraphTest, NothingIsAGraphToo) {
  EXPECT_EQ(ToMermaid({}), "flowchart LR\n");
  EXPECT_THAT(ToDot({}), HasSubstr("rankdir=LR;\n}"));
}

TEST(HistoryGraphTest, AStateThatWasThereBeforeIsOneNodeForAll) {
  std::vector<HistoryEntry> entries = {Entry("a", 1), Entry("b", 2)};
  for (HistoryEntry& entry : entries) entry.uses = {{.path = "in", .sha256 = "1"}};
  EXPECT_THAT(ToMermaid(entries), Not(HasSubstr("f2")));
  entries[1].uses[0].sha256 = "2";
  EXPECT_THAT(ToMermaid(entries), HasSubstr("f2"));
}

TEST(HistoryGraphTest, ACauseThatIsNotShownIsLeftOut) {
  std::vector<HistoryEntry> entries = {Entry("a", 1)};
  entries[0].execution.caused_by = "elsewhere";
  EXPECT_THAT(ToMermaid(entries), Not(HasSubstr("caused")));
}

constexpr std::string_view kHostile[] = {
    "\"]\nclick e1 \"javascript:alert(1)\"\ne9[\"",
    "<img src=x onerror=alert(1)>",
    "&lt;script&gt;",
    "#quot;]; #60;b#62;",
    "%%{init: {\"securityLevel\": \"loose\"}}%%",
    "`**bold** [link](javascript:alert(1))`",
    "end\r\nsubgraph x",
    "\\\"];\n x [URL=\"javascript:1\"]; \\",
    "\\N\\G\\E\\",
    "--> f2 | x | ; ::: $$x$$ @{ img: \"x\" }",
    "\xEF\xAC\x82\xC2\xB0\xC2\xB0"
    "60\xC2\xB6\xC3\x9F",
    "\xFF\xFE broken \xC3",
    "\xE2\x80\xAE\x1b[2J",
    "- list",
    "1. list",
    "__init__.py",
    "fa:fa-car",
    "",
};

std::vector<HistoryEntry> HostileEntries(std::string_view text) {
  std::vector<HistoryEntry> entries = {Entry("a", 1)};
  const std::string bytes(text);
  entries[0].execution.kind = entries[0].execution.language = entries[0].execution.outcome = bytes;
  entries[0].execution.what = bytes;
  entries[0].changes = {{.path = bytes, .sha256 = bytes}};
  entries[0].uses = {{.path = bytes + "2", .sha256 = bytes}};
  return entries;
}

// Labels hold nothing but letters, a few harmless marks, the graph's own line breaks and numbered characters.
TEST(MermaidTest, HostileTextStaysALabel) {
  for (const std::string_view text : kHostile) {
    const std::string mermaid = ToMermaid(HostileEntries(text));
    EXPECT_EQ(std::count(mermaid.begin(), mermaid.end(), '\n'), 6) << mermaid;
    EXPECT_EQ(std::count(mermaid.begin(), mermaid.end(), '"'), 6) << mermaid;
    for (std::size_t at = mermaid.find('"'); at != std::string::npos; at = mermaid.find('"', at + 1)) {
      const std::size_t end = mermaid.find('"', at + 1);
      std::string label = mermaid.substr(at + 1, end - at - 1);
      for (std::size_t br = label.find("<br/>"); br != std::string::npos; br = label.find("<br/>")) label.erase(br, 5);
      EXPECT_EQ(label.find_first_of("<>&\"'`[](){}|\\%$*_~:@=!\r"), std::string::npos) << label;
      EXPECT_EQ(label.find("\xEF\xAC\x82"), std::string::npos) << label;
      EXPECT_EQ(label.find("#58;fa-"), std::string::npos) << label;
      at = end;
    }
  }
}

// After each quoted label is taken out, only the graph's own syntax is left.
TEST(DotTest, HostileTextStaysALabel) {
  for (const std::string_view text : kHostile) {
    const std::string dot = ToDot(HostileEntries(text));
    std::string rest;
    bool quoted = false;
    for (std::size_t at = 0; at < dot.size(); ++at) {
      if (quoted && dot[at] == '\\')
        ++at;
      else if (dot[at] == '"')
        quoted = !quoted;
      else if (!quoted)
        rest += dot[at];
    }
    EXPECT_FALSE(quoted) << dot;
    EXPECT_EQ(
        rest,
        "digraph history {\n  charset=;\n  rankdir=LR;\n  e1 [shape=box, label=];\n  f1 [shape=ellipse, label=];\n"
        "  f2 [shape=ellipse, label=];\n  f1 -> e1 [label=, style=solid];\n  e1 -> f2 [label=, style=solid];\n}\n");
  }
}

TEST(HistoryGraphTest, ALongPathKeepsItsEnd) {
  std::vector<HistoryEntry> entries = {Entry("a", 1)};
  entries[0].changes = {{.path = std::string(4000, 'd') + "/name.txt"}};
  EXPECT_THAT(ToMermaid(entries), HasSubstr("/name.txt"));
  EXPECT_LT(ToMermaid(entries).size(), 300U);
}

}  // namespace
}  // namespace skerry::core
