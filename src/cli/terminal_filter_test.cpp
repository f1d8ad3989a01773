#include "cli/terminal_filter.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace skerry::cli {
namespace {

using Use = TerminalFilter::Use;

std::string Whole(Use use, std::string_view text) {
  TerminalFilter filter(use);
  const std::string passed = filter.Pass(text);
  return passed + filter.Finish();
}

// Passes the text in every two pieces, and byte by byte.
void ExpectInPieces(Use use, const std::string& text, const std::string& expected) {
  for (std::size_t at = 0; at <= text.size(); ++at) {
    TerminalFilter filter(use);
    std::string got = filter.Pass(text.substr(0, at));
    got += filter.Pass(text.substr(at));
    got += filter.Finish();
    EXPECT_EQ(got, expected) << "cut at " << at;
  }
  TerminalFilter filter(use);
  std::string got;
  for (const char byte : text) got += filter.Pass(std::string_view(&byte, 1));
  EXPECT_EQ(got + filter.Finish(), expected);
}

struct Row {
  const char* name;
  std::string text;
  std::string in_lines;
  std::string on_screen;
};
void PrintTo(const Row& row, std::ostream* out) {
  *out << row.name;
}

class TerminalFilterRows : public testing::TestWithParam<Row> {};

TEST_P(TerminalFilterRows, PassInWhateverPiecesTheyCome) {
  const Row& row = GetParam();
  ExpectInPieces(Use::kLines, "a" + row.text + "b", "a" + row.in_lines + "b");
  ExpectInPieces(Use::kScreen, "a" + row.text + "b", "a" + row.on_screen + "b");
}

Row Passes(const char* name, const std::string& text) {
  return {name, text, text, text};
}
Row OnScreen(const char* name, const std::string& text) {
  return {name, text, "", text};
}
Row Never(const char* name, const std::string& text) {
  return {name, text, "", ""};
}

const std::vector<Row> kRows = {
    Passes("Text", "hello\tworld\r\n\b\a"),
    Passes("Utf8", "ä漢🙂ÿ\u00a0"),
    Passes("Latin1", "caf\xe9 "),
    Passes("Colours", "\x1b[1;38;2;10;20;30m\x1b[4:3mred\x1b[0m"),
    Passes("ProgressBar", "\r\x1b[2K50%\x1b[1A\x1b[10G\x1b[K\x1b[J"),
    Passes("SavedCursor",
           "\x1b"
           "7\x1b"
           "8\x1b[s\x1b[u"),
    Passes("HiddenCursorThatComesBack", "\x1b[?25l\x1b[?25h"),
    Passes("PlainLetters", "\x1b(B"),
    OnScreen("ClearScreen", "\x1b[H\x1b[2J\x1b[3J"),
    OnScreen("OtherScreenAndBack", "\x1b[?1049h\x1b[?1049l"),
    OnScreen("Margins", "\x1b[2;10r\x1b[5;5H\x1b[L\x1b[M"),
    OnScreen("MouseAndPaste", "\x1b[?1000;1006h\x1b[?2004h\x1b[?1000;1006l\x1b[?2004l"),
    OnScreen("WhereIsTheCursor", "\x1b[6n"),
    OnScreen("WhatAreYou", "\x1b[c\x1b[>c\x1b[?2026$p"),
    OnScreen("Reset",
             "\x1b"
             "c"),
    OnScreen("LineDrawing", "\x1b(0\x0e\x0f"),
    {"Title", "\x1b]0;title\x07", "", "\x1b]0;title\x07"},
    {"TitleWithOtherEnd", "\x1b]2;title\x1b\\", "", "\x1b]2;title\x07"},
    Never("Clipboard", "\x1b]52;c;ZXZpbA==\x07"),
    Never("ClipboardWithOtherEnd", "\x1b]52;c;ZXZpbA==\x1b\\"),
    Never("ClipboardInTwoByteControls", "\u009d52;c;ZXZpbA==\u009c"),
    {"Link", "\x1b]8;;http://evil\x1b\\text\x1b]8;;\x1b\\", "text", "text"},
    Never("TitleIsTyped", "\x1b[21t\x1b[20t"),
    Never("Window", "\x1b[8;1;1t\x1b[3;0;0t\x1b[2t"),
    Never("Printer", "\x1b[5i\x1b[4i\x1b[?5i"),
    Never("Answerback", "\x05"),
    Never("KeysGetOtherMeanings", "\x1b[>4;2m\x1b[>1u\x1b[=1u\x1b[?u\x1bP1;1|17/41\x1b\\"),
    Never("Terminfo", "\x1bP+q544e\x1b\\\x1bP$qm\x1b\\"),
    Never("ColourIsAsked", "\x1b]11;?\x07\x1b]4;1;?\x1b\\"),
    Never("Notification", "\x1b]9;evil\x07\x1b]777;notify;a;b\x07\x1b]1337;File=:AAAA\x07"),
    Never("Application", "\x1b_Gi=1\x1b\\\x1b^x\x1b\\\x1bXx\x1b\\"),
    Never("Checksum", "\x1b[1;1;1;1;1;1*y\x1b[>q\x1b[1x\x1b[1$w"),
    Never("WhatAreYouInOneByte", "\x1bZ\u009a"),
    Never("QuestionInTwoByteControls", "\u009b21t"),
    Never("OtherLetters", "\x1b%@\x1b G\x1b#8"),
    Never("KeyboardIsLocked", "\x1b[2h"),
    Never("PrivateModeThatIsNotListed", "\x1b[?1070h\x1b[?42h"),
    Never("Nothing", std::string("\0\x7f", 2)),
    {"EightBitControl",
     "\x9b"
     "6n",
     "\ufffd6n", "\ufffd6n"},
    {"SequenceThatIsBrokenOff", "\x1b[3\n", "\n", "\n"},
    {"SequenceThatBeginsAnew", "\x1b[3\x1b[1mx\x1b[m", "\x1b[1mx\x1b[m", "\x1b[1mx\x1b[m"},
    {"StringThatNeverEnds", "\x1b]52;c;text\nmore", "^[]52;c;text\nmore", "^[]52;c;text\nmore"},
    {"StringThatIsBrokenOff", "\x1b]0;text\x1b[1mx\x1b[m", "^[]0;text\x1b[1mx\x1b[m", "^[]0;text\x1b[1mx\x1b[m"},
    {"StringInAString", "\x1b]0;one\u009dtwo\n", "^[]0;one^[]two\n", "^[]0;one^[]two\n"},
    Never("TitleThatHidesAnother", "\x1b]0;a\u009d52;c;ZQ==\x07"),
};

INSTANTIATE_TEST_SUITE_P(Rows, TerminalFilterRows, testing::ValuesIn(kRows),
                         [](const auto& info) { return info.param.name; });

TEST(TerminalFilterTest, WhatIsLeftAtTheEndIsTextOrNothing) {
  EXPECT_EQ(Whole(Use::kLines, "x\x1b]0;rest"), "x^[]0;rest");
  EXPECT_EQ(Whole(Use::kLines, "x\x1b[3"), "x");
  EXPECT_EQ(Whole(Use::kLines, "x\xc2"), "x\xc2");
}

TEST(TerminalFilterTest, WhatAProgramLeavesBehindIsTakenBack) {
  EXPECT_EQ(Whole(Use::kLines, "\x1b[31mred\x1b[?25l"), "\x1b[31mred\x1b[?25l\x1b[0m\x1b[?25h");
  EXPECT_EQ(Whole(Use::kScreen, "\x1b[?1049h\x1b[?1003h"), "\x1b[?1049h\x1b[?1003h\x1b[?1003l\x1b[?1049l");
  EXPECT_EQ(Whole(Use::kScreen, "\x1b[?7l\x1b[?7h"), "\x1b[?7l\x1b[?7h");
}

TEST(TerminalFilterTest, ALongStringIsShownAndNotKept) {
  const std::string much(200'000, 'x');
  const std::string shown = Whole(Use::kLines, "\x1b]52;c;" + much + "\n");
  EXPECT_EQ(shown, "^[]52;c;" + much + "\n");
}

TEST(TerminalFilterTest, NoLetterIsEverLost) {
  // Every byte that is no control, between every pair of introducers, comes out.
  for (const std::string begin : {"\x1b]", "\x1bP", "\x1b_", "\u009d"})
    for (const std::string end : {"\n", "\x1b[0m", "\x18", ""}) {
      const std::string shown = Whole(Use::kLines, std::string(begin).append("precious").append(end).append("tail\n"));
      EXPECT_NE(shown.find("precious"), std::string::npos) << testing::PrintToString(begin + end);
      EXPECT_NE(shown.find("tail\n"), std::string::npos) << testing::PrintToString(begin + end);
    }
}

TEST(TerminalFilterTest, APipeGetsEveryByte) {
  EXPECT_EQ(ForDescriptor(-1, "\x1b]52;c;x\x07"), "\x1b]52;c;x\x07");
}

// Each pair would begin another string, which has not ended either.
TEST(TerminalFilterTest, WhatBeginsOverAndOverIsShownInOnePass) {
  std::string text = "\x1b]";
  for (int at = 0; at < 30'000; ++at) text += "\xc2\x9d";
  const std::string shown = Whole(Use::kLines, text);
  EXPECT_EQ(shown.substr(0, 9), "^[]^[]^[]");
  EXPECT_EQ(shown.size(), 3 * 30'001U);
}

}  // namespace
}  // namespace skerry::cli
