// KeyTerminal: the person's terminal, key by key.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.hpp"
#include "core/backend.hpp"

namespace skerry::cli {

struct Key {
  enum class Kind {
    kCharacter,
    kUp,
    kDown,
    kEnter,
    kEscape,
    kBackspace,
    kClearLine,
    kOther,  // a key, or a report of the terminal, that has no meaning here
  };
  Kind kind = Kind::kOther;
  std::string text = {};  // for kCharacter: the character in UTF-8

  // The letter, or 0.
  [[nodiscard]] char letter() const { return kind == Kind::kCharacter && text.size() == 1 ? text.front() : '\0'; }
};

// The keys in typed bytes. Letters inside of a terminal's sequence are never keys.
std::vector<Key> KeysIn(std::string_view bytes);
// Whether the bytes end in an unfinished sequence.
bool EndsInSequence(std::string_view bytes);

// For as long as it lives, keys come one by one and are not shown. However the program ends, except by SIGKILL, the
// terminal is restored; Ctrl-Z gives it back for a while. One in a process at a time, and no other threads.
class KeyTerminal {
 public:
  enum class Screen { kSame, kAlternate };
  explicit KeyTerminal(Screen screen);
  KeyTerminal(const KeyTerminal&) = delete;
  KeyTerminal& operator=(const KeyTerminal&) = delete;
  ~KeyTerminal();

  // Whether stdin and stdout are a terminal that can move its cursor.
  static bool IsThere();

  // Readable when the window was resized, or the program continues after it was stopped.
  [[nodiscard]] int changed_fd() const { return changed_.get(); }
  void HeedChange();

  // The keys typed so far, when stdin is readable. Nothing when stdin is at its end.
  std::optional<std::vector<Key>> Read();
  void DiscardTypeahead();
  // False when the terminal is gone.
  bool Write(std::string_view text);

  // Shows text with the person's pager, which has the terminal meanwhile. False when there is no pager.
  bool Page(const std::string& text);

 private:
  void Take();
  void GiveBack();

  base::UniqueFd changed_;
};

}  // namespace skerry::cli
