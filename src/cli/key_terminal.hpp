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
    kOther,  // a key, or something that the terminal says, that means nothing here
  };
  Kind kind = Kind::kOther;
  std::string text = {};  // of a character: itself, in UTF-8

  // The letter, or 0.
  [[nodiscard]] char letter() const { return kind == Kind::kCharacter && text.size() == 1 ? text.front() : '\0'; }
};

// What was typed. The letters inside of a sequence of the terminal are never keys.
std::vector<Key> KeysIn(std::string_view bytes);
// Whether a sequence has begun at the end of it and is not whole.
bool EndsInSequence(std::string_view bytes);

// For as long as it lives, keys come one by one and are not shown. However the program ends, but for SIGKILL, the
// terminal is as it was before; Ctrl-Z gives it back for a while. One in a process at a time, and no threads beside it.
class KeyTerminal {
 public:
  enum class Screen { kSame, kAlternate };
  explicit KeyTerminal(Screen screen);
  KeyTerminal(const KeyTerminal&) = delete;
  KeyTerminal& operator=(const KeyTerminal&) = delete;
  ~KeyTerminal();

  // There is one on stdin and on stdout, and it can move its cursor.
  static bool IsThere();

  // Readable when the window has another size, or the program goes on after it was stopped.
  [[nodiscard]] int changed_fd() const { return changed_.get(); }
  void HeedChange();

  // What is there, when stdin is readable. Nothing when nobody can type any more.
  std::optional<std::vector<Key>> Read();
  void DiscardTypeahead();
  // False when the terminal is gone.
  bool Write(std::string_view text);

  // Shows text with the person's pager; the terminal is the pager's meanwhile. False when there is none.
  bool Page(const std::string& text);

 private:
  void Take();
  void GiveBack();

  base::UniqueFd changed_;
};

}  // namespace skerry::cli
