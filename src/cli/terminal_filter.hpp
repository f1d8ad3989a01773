// TerminalFilter: the output of a foreign program, without what would make a terminal answer, act or lie. Pure.
//
// Text passes, whole and in order, however it is split. Only control sequences of a list pass; all others are left out:
// questions that a terminal answers as if a person typed, the clipboard, links, titles, redefined keys, printers. A
// sequence that never ends, or is too long to be one, is shown as text: "^[]52;…".
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace skerry::cli {

class TerminalFilter {
 public:
  enum class Use {
    kLines,   // output that scrolls by: colours, and movements that progress bars need
    kScreen,  // a program that has the terminal for itself, and its input: editors, shells. Questions whose answers
              // have a fixed form go to the program that asks; modes that it leaves behind are taken back at the end
  };
  explicit TerminalFilter(Use use) : use_(use) {}

  // The bytes that may be written now.
  [[nodiscard]] std::string Pass(std::string_view bytes);
  // The rest at the end of the output: half a sequence as text, and what restores colours, cursor and modes.
  [[nodiscard]] std::string Finish();

 private:
  enum class State {
    kText,
    kLeadOfControl,  // 0xC2: a control character of two bytes may follow
    kEscape,
    kEscapeMore,  // ESC and an intermediate byte
    kSequence,    // CSI
    kString,      // OSC, DCS, APC, PM, SOS
    kStringEnd,   // ESC in a string
  };
  void Take(unsigned char byte, std::string& out);
  void TakeText(unsigned char byte, std::string& out);
  void TakeControl(unsigned char byte, std::string& out);
  void TakeEscape(unsigned char byte, std::string& out);
  void TakeSequence(unsigned char byte, std::string& out);
  void TakeString(unsigned char byte, std::string& out);
  void Begin(State state, std::string_view introducer);
  void EndSequence(std::string& out);
  void EndString(std::string& out);
  // The held bytes were no sequence: they are text.
  void ShowHeld(std::string& out);
  [[nodiscard]] bool MayPassEscape() const;
  void Remember(std::string_view parameters, char final);

  Use use_;
  State state_ = State::kText;
  std::string held_;       // a sequence that has not ended, with its introducer in seven bits
  int continuations_ = 0;  // bytes of a character of UTF-8 that are still to come
  bool coloured_ = false;
  std::set<unsigned> changed_;  // modes that the program has changed
};

// A whole text, for a descriptor: filtered where that is a terminal, else unchanged.
std::string ForDescriptor(int fd, std::string_view text);

}  // namespace skerry::cli
