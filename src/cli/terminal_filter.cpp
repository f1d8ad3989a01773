#include "cli/terminal_filter.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace skerry::cli {
namespace {

constexpr unsigned char kBell = 0x07;
constexpr unsigned char kShiftOut = 0x0e;
constexpr unsigned char kShiftIn = 0x0f;
constexpr unsigned char kCancel = 0x18;
constexpr unsigned char kSubstitute = 0x1a;
constexpr unsigned char kEscapeByte = 0x1b;
constexpr unsigned char kDelete = 0x7f;
constexpr unsigned char kControlLead = 0xc2;
constexpr std::size_t kLongestSequence = 256;
constexpr std::size_t kLongestString = std::size_t{64} << 10U;
constexpr std::size_t kLongestTitle = 256;
constexpr unsigned kCursor = 25;
constexpr unsigned kWraps = 7;

bool IsIn(unsigned char byte, unsigned char low, unsigned char high) {
  return byte >= low && byte <= high;
}

// Bell, backspace, tabs, line and form feeds, carriage return.
bool IsPlainControl(unsigned char byte) {
  return IsIn(byte, 0x07, 0x0d);
}

std::vector<unsigned> NumbersIn(std::string_view parameters) {
  std::vector<unsigned> numbers;
  while (!parameters.empty()) {
    const std::size_t end = std::min(parameters.find(';'), parameters.size());
    const std::string_view digits = parameters.substr(0, end);
    unsigned number = 0;
    const auto [stop, error] = std::from_chars(digits.begin(), digits.end(), number);
    numbers.push_back(error == std::errc() && stop == digits.end() ? number : UINT32_MAX);
    if (end == 0) numbers.back() = 0;
    parameters.remove_prefix(std::min(end + 1, parameters.size()));
  }
  return numbers;
}

bool HasOnlyNumbers(std::string_view parameters) {
  return std::ranges::all_of(parameters, [](char c) { return (c >= '0' && c <= '9') || c == ';' || c == ':'; });
}

// DEC's private modes: cursor keys, reverse video, origin, wrapping, blinking, the cursor, other screens, the mouse,
// focus, paste, synchronous drawing.
bool IsHarmlessMode(unsigned mode) {
  constexpr std::array kModes = {1U,    5U,    6U,    7U,    12U,   25U,   47U,   1000U, 1002U, 1003U,
                                 1004U, 1005U, 1006U, 1015U, 1047U, 1048U, 1049U, 2004U, 2026U};
  return std::ranges::find(kModes, mode) != kModes.end();
}

bool IsOnAtFirst(unsigned mode) {
  return mode == kCursor || mode == kWraps;
}

bool PassesInLines(std::string_view parameters, char final) {
  if (parameters == "?25") return final == 'h' || final == 'l';
  if (!HasOnlyNumbers(parameters)) return false;
  if (final == 'J') return parameters.empty() || parameters == "0";  // erases below the cursor, not earlier output
  if (final == 's' || final == 'u') return parameters.empty();
  return std::string_view("mABCDEFGKXP@").contains(final);
}

bool PassesPrivateOnScreen(std::string_view parameters, char final) {
  const bool query = parameters.ends_with('$');
  if (query) parameters.remove_suffix(1);
  if (!HasOnlyNumbers(parameters)) return false;
  if (query) return final == 'p';
  if (final == 'h' || final == 'l') return std::ranges::all_of(NumbersIn(parameters), IsHarmlessMode);
  return final == 'J' || final == 'K' || (final == 'n' && parameters == "6");
}

bool PassesOnScreen(std::string_view parameters, char final) {
  if (parameters.starts_with('?')) return PassesPrivateOnScreen(parameters.substr(1), final);
  if (parameters.starts_with('>')) return final == 'c' && HasOnlyNumbers(parameters.substr(1));
  if (parameters.ends_with(' ')) return final == 'q' && HasOnlyNumbers(parameters.substr(0, parameters.size() - 1));
  if (parameters == "!") return final == 'p';
  if (!HasOnlyNumbers(parameters)) return false;
  const auto numbers = NumbersIn(parameters);
  const unsigned first = numbers.empty() ? 0 : numbers.front();
  switch (final) {
    case 'n':
      return first == 5 || first == 6;
    case 'c':
      return first == 0;
    case 't':  // saves the title, and restores it
      return first == 22 || first == 23;
    case 'h':
    case 'l':  // insert mode
      return numbers.size() == 1 && first == 4;
    default:
      return std::string_view("@ABCDEFGHIJKLMPSTXZ`abdefgmrsu").contains(final);
  }
}

// OSC 0, 1 and 2, without control characters.
bool IsTitle(std::string_view held) {
  const bool kind = held.starts_with("\x1b]0;") || held.starts_with("\x1b]1;") || held.starts_with("\x1b]2;");
  if (!kind || held.size() > kLongestTitle) return false;
  unsigned char before = 0;
  for (const char letter : held.substr(1)) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x20 || byte == kDelete || (before == kControlLead && IsIn(byte, 0x80, 0x9f))) return false;
    before = byte;
  }
  return true;
}

}  // namespace

std::string TerminalFilter::Pass(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (const char byte : bytes) Take(static_cast<unsigned char>(byte), out);
  return out;
}

std::string TerminalFilter::Finish() {
  std::string out;
  if (state_ == State::kString || state_ == State::kStringEnd) ShowHeld(out);
  if (state_ == State::kLeadOfControl) out += static_cast<char>(kControlLead);
  state_ = State::kText;
  held_.clear();
  if (std::exchange(coloured_, false)) out += "\x1b[0m";
  for (const unsigned mode : std::exchange(changed_, {}))
    out += "\x1b[?" + std::to_string(mode) + (IsOnAtFirst(mode) ? "h" : "l");
  return out;
}

void TerminalFilter::Take(unsigned char byte, std::string& out) {
  switch (state_) {
    case State::kText:
      return TakeText(byte, out);
    case State::kLeadOfControl:
      state_ = State::kText;
      if (IsIn(byte, 0x80, 0x9f)) return TakeControl(byte, out);
      out += static_cast<char>(kControlLead);
      if (!IsIn(byte, 0xa0, 0xbf)) return TakeText(byte, out);
      out += static_cast<char>(byte);
      return;
    case State::kEscape:
    case State::kEscapeMore:
      return TakeEscape(byte, out);
    case State::kSequence:
      return TakeSequence(byte, out);
    case State::kString:
    case State::kStringEnd:
      return TakeString(byte, out);
  }
}

void TerminalFilter::TakeText(unsigned char byte, std::string& out) {
  if (IsIn(byte, 0x80, 0xbf) && continuations_ > 0) {
    --continuations_;
    out += static_cast<char>(byte);
    return;
  }
  continuations_ = 0;
  if (byte == kEscapeByte) return Begin(State::kEscape, "\x1b");
  if (byte == kControlLead) {
    state_ = State::kLeadOfControl;
    return;
  }
  if (IsIn(byte, 0x80, 0x9f)) {  // a control character for an 8-bit terminal, nothing for one of UTF-8
    out += "\xef\xbf\xbd";
    return;
  }
  if (byte >= 0xf0) {
    continuations_ = 3;
  } else if (byte >= 0xe0) {
    continuations_ = 2;
  } else if (byte >= 0xc0) {
    continuations_ = 1;
  }
  const bool shift = use_ == Use::kScreen && (byte == kShiftOut || byte == kShiftIn);
  if ((byte >= 0x20 && byte != kDelete) || IsPlainControl(byte) || shift) out += static_cast<char>(byte);
}

// The bytes 0x80 to 0x9f are short for ESC and another byte.
void TerminalFilter::TakeControl(unsigned char byte, std::string& out) {
  Begin(State::kEscape, "\x1b");
  TakeEscape(static_cast<unsigned char>(byte - 0x40), out);
}

void TerminalFilter::Begin(State state, std::string_view introducer) {
  state_ = state;
  held_ = introducer;
}

void TerminalFilter::TakeEscape(unsigned char byte, std::string& out) {
  if (byte == kEscapeByte) return Begin(State::kEscape, "\x1b");
  if (byte < 0x20 || byte >= kDelete) {
    state_ = State::kText;
    return TakeText(byte, out);
  }
  held_ += static_cast<char>(byte);
  if (byte < 0x30) {
    state_ = State::kEscapeMore;
    if (held_.size() > kLongestSequence) state_ = State::kText;
    return;
  }
  const bool first = state_ == State::kEscape;
  state_ = State::kText;
  if (first && byte == '[') {
    state_ = State::kSequence;
  } else if (first && std::string_view("]P_^X").contains(static_cast<char>(byte))) {
    state_ = State::kString;
  } else if (MayPassEscape()) {
    out += held_;
  }
}

bool TerminalFilter::MayPassEscape() const {
  const std::string_view what = std::string_view(held_).substr(1);
  if (what == "7" || what == "8" || what == "(B") return true;
  if (use_ == Use::kLines) return false;
  constexpr std::array<std::string_view, 13> kScreen = {"=",  ">",  "c",  "D",  "E",  "M", "H",
                                                        "(0", "(A", ")0", ")B", "*B", "+B"};
  return std::ranges::find(kScreen, what) != kScreen.end();
}

void TerminalFilter::TakeSequence(unsigned char byte, std::string& out) {
  if (byte == kEscapeByte) return Begin(State::kEscape, "\x1b");
  if (byte < 0x20 || byte >= kDelete) {  // it was no sequence
    state_ = State::kText;
    return TakeText(byte, out);
  }
  held_ += static_cast<char>(byte);
  if (held_.size() > kLongestSequence) state_ = State::kText;
  if (byte >= 0x40) EndSequence(out);
}

void TerminalFilter::EndSequence(std::string& out) {
  state_ = State::kText;
  std::string_view parameters = std::string_view(held_).substr(2);
  const char final = parameters.back();
  parameters.remove_suffix(1);
  if (!(use_ == Use::kLines ? PassesInLines(parameters, final) : PassesOnScreen(parameters, final))) return;
  Remember(parameters, final);
  out += held_;
}

// Remembers what has to be undone at the end.
void TerminalFilter::Remember(std::string_view parameters, char final) {
  constexpr unsigned kSavedCursor = 1048;  // not a mode: undoing it would move the cursor
  const bool mode = parameters.starts_with('?') && (final == 'h' || final == 'l');
  if (mode) parameters.remove_prefix(1);
  const auto numbers = NumbersIn(parameters);
  if (final == 'm') coloured_ = std::ranges::any_of(numbers, [](unsigned number) { return number != 0; });
  if (!mode) return;
  for (const unsigned number : numbers) {
    if (number == kSavedCursor) continue;
    if ((final == 'h') == IsOnAtFirst(number)) {
      changed_.erase(number);
    } else {
      changed_.insert(number);
    }
  }
}

void TerminalFilter::TakeString(unsigned char byte, std::string& out) {
  if (state_ == State::kStringEnd) {
    if (byte == '\\') return EndString(out);
    ShowHeld(out);
    Begin(State::kEscape, "\x1b");
    return TakeEscape(byte, out);
  }
  const bool lead = held_.back() == static_cast<char>(kControlLead);
  if (byte == kBell) return EndString(out);
  if (byte == 0x9c && lead) {
    held_.pop_back();
    return EndString(out);
  }
  if (byte == kCancel || byte == kSubstitute) return ShowHeld(out);
  if (byte == kEscapeByte) {
    state_ = State::kStringEnd;
    return;
  }
  // The line has ended before the string: it was none.
  if (byte == '\n' || byte == '\r' || held_.size() >= kLongestString) {
    ShowHeld(out);
    return Take(byte, out);
  }
  held_ += static_cast<char>(byte);
}

void TerminalFilter::EndString(std::string& out) {
  state_ = State::kText;
  if (use_ == Use::kScreen && IsTitle(held_)) out += held_ + "\a";
}

// Controls of two bytes inside are shown as well: they would not have ended either.
void TerminalFilter::ShowHeld(std::string& out) {
  const std::string held = std::exchange(held_, {});
  state_ = State::kText;
  continuations_ = 0;
  out += "^[";
  for (std::size_t at = 1; at < held.size(); ++at) {
    const auto byte = static_cast<unsigned char>(held[at]);
    const auto next = static_cast<unsigned char>(at + 1 < held.size() ? held[at + 1] : 0);
    if (byte == kControlLead && IsIn(next, 0x80, 0x9f)) {
      out += "^[";
      out += static_cast<char>(next - 0x40);
      ++at;
    } else {
      Take(byte, out);
    }
  }
}

std::string ForDescriptor(int fd, std::string_view text) {
  if (::isatty(fd) != 1) return std::string(text);
  TerminalFilter filter(TerminalFilter::Use::kLines);
  const std::string passed = filter.Pass(text);
  return passed + filter.Finish();
}

}  // namespace skerry::cli
