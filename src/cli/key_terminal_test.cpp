#include "cli/key_terminal.hpp"

#include <gtest/gtest.h>

namespace skerry::cli {
namespace {

using Kind = Key::Kind;

std::vector<Kind> KindsIn(std::string_view bytes) {
  std::vector<Kind> kinds;
  for (const Key& key : KeysIn(bytes)) kinds.push_back(key.kind);
  return kinds;
}

TEST(KeyTerminalTest, LettersAndKeysAreToldApart) {
  EXPECT_EQ(KindsIn("a\r\x7f\x15\x1b[A\x1bOB\x1b"),
            (std::vector{Kind::kCharacter, Kind::kEnter, Kind::kBackspace, Kind::kClearLine, Kind::kUp, Kind::kDown,
                         Kind::kEscape}));
  EXPECT_EQ(KeysIn("a").front().letter(), 'a');
}

TEST(KeyTerminalTest, ACharacterOfSeveralBytesIsOneKey) {
  const auto keys = KeysIn("é日");
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[1].text, "日");
  EXPECT_EQ(keys[1].letter(), '\0');
}

TEST(KeyTerminalTest, LettersInsideOfSequencesAreNoKeys) {
  for (const std::string_view sequence : {"\x1b[15~", "\x1b[<0;12;7M", "\x1b[?1;2c", "\x1b]52;c;ya\a", "\x1bPqa\x1b\\",
                                          "\x1by", "\x1b[I", "\x1b[200~", "\x1b[1;5A", "\x1b[12;"})
    EXPECT_EQ(KindsIn(sequence), std::vector{Kind::kOther}) << sequence;
}

TEST(KeyTerminalTest, ASequenceThatIsNotWholeIsNoticed) {
  for (const std::string_view cut : {"\x1b", "a\x1b[", "\x1b[1;", "\x1bO", "\x1b]52;x", "\x1bPq\x1b"})
    EXPECT_TRUE(EndsInSequence(cut)) << cut;
  for (const std::string_view whole : {"", "a", "\x1b[A", "\x1b[A\x1b[15~q", "\x1b]52;x\a"})
    EXPECT_FALSE(EndsInSequence(whole)) << whole;
}

}  // namespace
}  // namespace skerry::cli
