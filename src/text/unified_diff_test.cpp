#include "text/unified_diff.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

namespace skerry::text {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

std::string_view Line(std::string_view& text) {
  const std::size_t feed = text.find('\n');
  const std::string_view line = text.substr(0, feed == std::string_view::npos ? feed : feed + 1);
  text.remove_prefix(line.size());
  return line;
}

std::size_t Number(std::string_view& text) {
  std::size_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
  return number;
}

// "3,4" or "3": the first line, counted from 0, and the number of lines.
std::pair<std::size_t, std::size_t> Range(std::string_view& text) {
  const std::size_t first = Number(text);
  std::size_t count = 1;
  if (text.starts_with(',')) {
    text.remove_prefix(1);
    count = Number(text);
  }
  return {count == 0 ? first : first - 1, count};
}

// Applies hunks strictly: every line number, every count, every line of context has to be right. An error becomes a
// text that cannot be a result.
std::string Applied(std::string_view before, std::string_view hunks) {
  std::vector<std::string_view> lines;
  for (std::string_view rest = before; !rest.empty();) lines.push_back(Line(rest));
  std::string result;
  std::size_t at = 0;
  std::size_t made = 0;
  while (!hunks.empty()) {
    std::string_view header = Line(hunks);
    if (!header.starts_with("@@ -")) return "\x01 no header";
    header.remove_prefix(4);
    auto [old_first, old_count] = Range(header);
    if (!header.starts_with(" +")) return "\x01 no second range";
    header.remove_prefix(2);
    auto [new_first, new_count] = Range(header);
    if (header != " @@\n" || old_first < at) return "\x01 header";
    for (; at < old_first; ++at, ++made) result += lines[at];
    if (made != new_first) return "\x01 new line number";
    while (old_count + new_count > 0) {
      const std::string_view line = Line(hunks);
      std::string content(line.substr(1));
      if (hunks.starts_with("\\ No newline at end of file\n")) {
        content.pop_back();
        (void)Line(hunks);
      }
      if (line[0] != '+' && (at >= lines.size() || lines[at] != content)) return "\x01 old line";
      if (line[0] != '+') ++at, --old_count;
      if (line[0] != '-') result += content, ++made, --new_count;
    }
  }
  for (; at < lines.size(); ++at) result += lines[at];
  return result;
}

std::string RandomText(std::mt19937& random, std::size_t max_lines) {
  constexpr std::array<std::string_view, 8> kLines = {"a\n", "b\n", "\n", "}\n", "c\r\n", "-- x\n", "++ y\n", " \n"};
  std::string text;
  for (std::size_t i = random() % (max_lines + 1); i > 0; --i) text += kLines[random() % kLines.size()];
  if (random() % 3 == 0 && text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

// The text with a few lines added, removed or changed.
std::string Changed(std::mt19937& random, std::string_view text) {
  std::string changed;
  while (!text.empty()) {
    const std::string_view line = Line(text);
    const auto what = random() % 20;
    if (what == 0) changed += RandomText(random, 3);
    if (what != 1) changed += what == 2 ? "changed\n"s : std::string(line);
  }
  return changed;
}

TEST(UnifiedDiffTest, HunksLookAsPeopleKnowThem) {
  EXPECT_EQ(UnifiedHunks("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
  EXPECT_EQ(UnifiedHunks("same\n", "same\n"), "");
}

TEST(UnifiedDiffTest, AMissingLineEndIsTold) {
  EXPECT_EQ(UnifiedHunks("a", "a\n"), "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
  EXPECT_EQ(UnifiedHunks("a\nb", "x\nb"), "@@ -1,2 +1,2 @@\n-a\n+x\n b\n\\ No newline at end of file\n");
}

TEST(UnifiedDiffTest, AnEmptySideHasNoLines) {
  EXPECT_EQ(UnifiedHunks("", "a\n"), "@@ -0,0 +1 @@\n+a\n");
  EXPECT_EQ(UnifiedHunks("a\nb\n", ""), "@@ -1,2 +0,0 @@\n-a\n-b\n");
}

TEST(UnifiedDiffTest, ChangesFarApartAreHunksOfTheirOwn) {
  std::string before;
  for (int i = 1; i <= 30; ++i) before += std::to_string(i) + "\n";
  std::string after = before;
  after.replace(after.find("4\n"), 1, "x");
  after.replace(after.find("25\n"), 2, "y");
  const std::string hunks = UnifiedHunks(before, after);
  EXPECT_THAT(hunks, testing::HasSubstr("@@ -1,7 +1,7 @@\n"));
  EXPECT_THAT(hunks, testing::HasSubstr("@@ -22,7 +22,7 @@\n"));
}

TEST(UnifiedDiffTest, ChangesWhoseContextTouchesAreOneHunk) {
  const std::string gap = "1\n2\n3\n4\n5\n6\n";
  EXPECT_THAT(UnifiedHunks("a\n" + gap + "b\n", "A\n" + gap + "B\n"), testing::StartsWith("@@ -1,8 +1,8 @@\n"));
  EXPECT_THAT(UnifiedHunks("a\n7\n" + gap + "b\n", "A\n7\n" + gap + "B\n"),
              testing::AllOf(testing::StartsWith("@@ -1,4 +1,4 @@\n"), testing::HasSubstr("\n@@ -6,4 +6,4 @@\n")));
}

TEST(UnifiedDiffTest, AChangeThatSlidesDownKeepsItsContext) {
  const std::string lines = "x\n{\n}\n}\n}\n}\n}\n}\n}\nend\n1\n2\n3\n";
  const std::string hunks = UnifiedHunks(lines, "y\n{\n}\n}\n}\n}\n}\n}\n}\n}\nend\n1\n2\n3\n");
  EXPECT_THAT(hunks, testing::EndsWith(" }\n+}\n end\n 1\n 2\n"));
}

TEST(UnifiedDiffTest, HunksMakeTheOtherSide) {
  std::mt19937 random(4);
  for (int round = 0; round < 20'000; ++round) {
    const std::string before = RandomText(random, 40);
    const std::string after = round % 2 == 0 ? Changed(random, before) : RandomText(random, 40);
    const DiffOptions options{.context = random() % 5, .max_work = round % 3 == 0 ? random() % 300 : 1'000'000};
    ASSERT_EQ(Applied(before, UnifiedHunks(before, after, options)), after) << testing::PrintToString(before);
  }
}

TEST(UnifiedDiffTest, VeryManyLinesAreOneBlock) {
  std::string before = "1\n2\n3\n4\n";
  std::string after = before;
  for (int i = 0; i < 1'100'000; ++i) before += "x\n", after += "\n";
  before += "5\n6\n7\n8\n";
  after += "5\n6\n7\n8\n";
  const std::string hunks = UnifiedHunks(before, after);
  EXPECT_THAT(hunks.substr(0, 60), testing::StartsWith("@@ -2,1100006 +2,1100006 @@\n 2\n 3\n 4\n-x\n"));
  EXPECT_TRUE(Applied(before, hunks) == after);
}

constexpr const char* kGit = "git apply --whitespace=nowarn";
constexpr const char* kPatch = "patch -s -p1 -i";

// A directory to which a program applies diffs.
class PatchFixture : public testing::Test {
 protected:
  explicit PatchFixture(std::string tool) : tool_(std::move(tool)) {}

  void SetUp() override {
    if (std::system(("command -v " + tool_.substr(0, tool_.find(' ')) + " >/dev/null").c_str()) != 0) {
      GTEST_SKIP() << tool_ << " is not installed";
    }
  }
  void Write(const std::string& name, std::string_view bytes) const {
    std::ofstream(root_ / name, std::ios::binary) << bytes;
  }
  [[nodiscard]] std::string Read(const std::string& name) const {
    std::ostringstream bytes;
    bytes << std::ifstream(root_ / name, std::ios::binary).rdbuf();
    return bytes.str();
  }
  // Runs git outside of a repository, without the settings of the user who runs the test.
  [[nodiscard]] bool Apply(std::string_view diff) const {
    Write("the.diff", diff);
    const std::string surroundings = "GIT_CEILING_DIRECTORIES=/ GIT_CONFIG_NOSYSTEM=1 HOME=/nonexistent ";
    const std::string command =
        "cd '" + root_.string() + "' && " + surroundings + tool_ + " the.diff >log 2>&1 </dev/null";
    return std::system(command.c_str()) == 0;
  }

  support::TemporaryDirectory directory_;
  fs::path root_ = directory_.path();

 private:
  std::string tool_;
};

class PatchToolTest : public PatchFixture, public testing::WithParamInterface<const char*> {
 protected:
  PatchToolTest() : PatchFixture(GetParam()) {}
};
INSTANTIATE_TEST_SUITE_P(Tools, PatchToolTest, testing::Values(kGit, kPatch),
                         [](const auto& info) { return info.param == std::string(kGit) ? "Git" : "Patch"; });

// Diffs that patch itself cannot apply, or not without git's index line with the hashes of objects.
class GitApplyTest : public PatchFixture {
 protected:
  GitApplyTest() : PatchFixture(kGit) {}
};

constexpr unsigned kPlain = 0100644;

DiffSide Side(std::string_view bytes, unsigned mode = kPlain) {
  return {bytes, "", mode};
}

// Many files in one diff: starting a program for each would take most of the time.
TEST_P(PatchToolTest, TakesWhatWeWrite) {
  std::mt19937 random(9);
  std::string diff;
  std::vector<std::string> expected;
  for (int i = 0; i < 400; ++i) {
    std::string before = RandomText(random, 30);
    std::string after = i % 2 == 0 ? Changed(random, before) : RandomText(random, 30);
    if (i % 5 == 0) {
      before += "tail without end";
      after += "tail without end";
    }
    Write("f" + std::to_string(i), before);
    diff += FileDiff("f" + std::to_string(i), Side(before), Side(after));
    expected.push_back(after);
  }
  ASSERT_TRUE(Apply(diff)) << Read("log");
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(Read("f" + std::to_string(i)), expected[i]) << i;
  }
}

TEST_P(PatchToolTest, MakesAndDeletesFiles) {
  Write("gone", "x\ny");
  ASSERT_TRUE(Apply(FileDiff("new", std::nullopt, Side("1\n2")) + FileDiff("gone", Side("x\ny"), std::nullopt) +
                    FileDiff("empty", std::nullopt, Side("")) +
                    FileDiff("tool", std::nullopt, Side("#!/bin/sh\n", 0100755))))
      << Read("log");
  EXPECT_EQ(Read("new"), "1\n2");
  EXPECT_TRUE(fs::exists(root_ / "empty"));
  EXPECT_FALSE(fs::exists(root_ / "gone"));
  EXPECT_NE(fs::status(root_ / "tool").permissions() & fs::perms::owner_exec, fs::perms::none);
}

TEST_P(PatchToolTest, TakesNamesThatAreNotPlain) {
  const std::vector<std::string> names = {"with space", "quo\"te", "back\\slash", "t\tab",
                                          "line\nend",  "grün",    "\xFF\x01"};
  std::string diff;
  for (const std::string& name : names) {
    Write(name, "old\n");
    diff += FileDiff(name, Side("old\n"), Side("new\n"));
  }
  ASSERT_TRUE(Apply(diff)) << Read("log") << diff;
  for (const std::string& name : names) EXPECT_EQ(Read(name), "new\n") << name;
}

TEST_P(PatchToolTest, ChangesModesAndMakesLinks) {
  Write("file", "x\n");
  Write("becomes", "text\n");
  fs::create_symlink("old", root_ / "gone");
  ASSERT_TRUE(Apply(FileDiff("file", Side("x\n"), Side("x\n", 0100755)) +
                    FileDiff("gone", Side("old", 0120777), std::nullopt) +
                    FileDiff("becomes", Side("text\n"), Side("file", 0120777))))
      << Read("log");
  EXPECT_NE(fs::status(root_ / "file").permissions() & fs::perms::owner_exec, fs::perms::none);
  EXPECT_EQ(fs::read_symlink(root_ / "becomes"), "file");
  EXPECT_FALSE(fs::is_symlink(root_ / "gone"));
}

TEST_F(GitApplyTest, DeletesAnEmptyFile) {
  Write("with space", "");
  ASSERT_TRUE(Apply(FileDiff("with space", Side(""), std::nullopt))) << Read("log");
  EXPECT_FALSE(fs::exists(root_ / "with space"));
}

TEST_F(GitApplyTest, GivesALinkAnotherTarget) {
  fs::create_symlink("old", root_ / "link");
  ASSERT_TRUE(Apply(FileDiff("link", Side("old", 0120777), Side("new", 0120777)))) << Read("log");
  EXPECT_EQ(fs::read_symlink(root_ / "link"), "new");
}

TEST_P(PatchToolTest, TakesLineEndsOfWindows) {
  Write("f", "a\r\nb\r\nc");
  ASSERT_TRUE(Apply(FileDiff("f", Side("a\r\nb\r\nc"), Side("a\r\nB\r\nc\r\n")))) << Read("log");
  EXPECT_EQ(Read("f"), "a\r\nB\r\nc\r\n");
}

TEST_F(GitApplyTest, MakesNoEmptyFileOfWhatIsNoText) {
  EXPECT_FALSE(Apply(FileDiff("new", std::nullopt, Side("\0\1"s))));
  EXPECT_FALSE(fs::exists(root_ / "new"));
}

}  // namespace
}  // namespace skerry::text
