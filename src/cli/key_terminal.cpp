#include "cli/key_terminal.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "os/files.hpp"

namespace skerry::cli {
namespace {

constexpr char kEscape = '\x1b';

// --- keys ---

bool IsBetween(char c, char first, char last) {
  return c >= first && c <= last;
}

// The length of a sequence that begins with an escape; nothing when it is not whole. A lone escape is the key.
std::optional<std::size_t> SequenceLength(std::string_view bytes) {
  if (bytes.size() == 1) return std::nullopt;
  if (bytes[1] == 'O') return bytes.size() > 2 ? std::optional<std::size_t>(3) : std::nullopt;
  if (bytes[1] == '[') {
    for (std::size_t at = 2; at < bytes.size(); ++at)
      if (!IsBetween(bytes[at], ' ', '?')) return at + 1;
    return std::nullopt;
  }
  constexpr std::string_view kStrings = "]P_^X";  // strings end with a bell, or with an escape and a backslash
  if (!kStrings.contains(bytes[1])) return 2;
  const std::size_t end = bytes.find_first_of("\a\x1b", 2);
  if (end == std::string_view::npos || (bytes[end] == kEscape && end + 1 == bytes.size())) return std::nullopt;
  return end + (bytes[end] == kEscape ? 2 : 1);
}

Key KeyOfSequence(std::string_view sequence) {
  if (sequence == "\x1b") return {.kind = Key::Kind::kEscape};
  if (sequence == "\x1b[A" || sequence == "\x1bOA") return {.kind = Key::Kind::kUp};
  if (sequence == "\x1b[B" || sequence == "\x1bOB") return {.kind = Key::Kind::kDown};
  return {};
}

std::size_t CharacterLength(std::string_view bytes) {
  std::size_t length = 1;
  while (length < bytes.size() && (static_cast<unsigned char>(bytes[length]) & 0xC0U) == 0x80U) ++length;
  return length;
}

Key KeyOfCharacter(std::string_view character) {
  constexpr char kDelete = '\x7f';
  constexpr char kControlU = '\x15';
  const char first = character.front();
  if (first == '\n' || first == '\r') return {.kind = Key::Kind::kEnter};
  if (first == kDelete || first == '\b') return {.kind = Key::Kind::kBackspace};
  if (first == kControlU) return {.kind = Key::Kind::kClearLine};
  if (IsBetween(first, '\0', '\x1f')) return {};
  return {.kind = Key::Kind::kCharacter, .text = std::string(character)};
}

// --- the terminal ---

// Signal handlers can only use global state.
struct Before {
  termios mode{};
  KeyTerminal::Screen screen = KeyTerminal::Screen::kSame;
  volatile sig_atomic_t taken = 0;
  int changed = -1;
};
Before before;

constexpr std::string_view kEnterAlternate = "\x1b[?1049h\x1b[?25l\x1b[2J";
constexpr std::string_view kLeaveAlternate = "\x1b[?25h\x1b[?1049l";
// On the same screen: nothing half-written may stay in the last row.
constexpr std::string_view kLeaveSame = "\r\x1b[K";

constexpr std::array kEnding = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr std::array kChanging = {SIGWINCH, SIGCONT};

// Calls only functions that a signal handler may call.
void Restore() {
  if (before.taken == 0) return;
  before.taken = 0;
  const std::string_view words = before.screen == KeyTerminal::Screen::kAlternate ? kLeaveAlternate : kLeaveSame;
  (void)!::write(STDOUT_FILENO, words.data(), words.size());
  (void)::tcsetattr(STDIN_FILENO, TCSADRAIN, &before.mode);
}

void OnEnd(int number) {
  Restore();
  (void)::signal(number, SIG_DFL);
  (void)::raise(number);  // ends the process when this handler returns
}

void OnStop(int /*number*/) {
  const int kept = errno;
  Restore();
  (void)::kill(::getpid(), SIGSTOP);
  errno = kept;
}

void OnChange(int /*number*/) {
  const int kept = errno;
  const std::uint64_t one = 1;
  (void)!::write(before.changed, &one, sizeof one);
  errno = kept;
}

// A started program resets a handled signal to its default, but would inherit an ignored one.
void OnNothing(int /*number*/) {}

void Handle(int number, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  ::sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  (void)::sigaction(number, &action, nullptr);
}

// While it lives, SIGTSTP is held back.
class WithoutStop {
 public:
  WithoutStop() {
    sigset_t stop;
    ::sigemptyset(&stop);
    ::sigaddset(&stop, SIGTSTP);
    (void)::pthread_sigmask(SIG_BLOCK, &stop, &before_);
  }
  WithoutStop(const WithoutStop&) = delete;
  WithoutStop& operator=(const WithoutStop&) = delete;
  ~WithoutStop() { (void)::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

std::vector<Key> KeysIn(std::string_view bytes) {
  std::vector<Key> keys;
  while (!bytes.empty()) {
    const bool sequence = bytes.front() == kEscape;
    const std::size_t length = sequence ? SequenceLength(bytes).value_or(bytes.size()) : CharacterLength(bytes);
    keys.push_back(sequence ? KeyOfSequence(bytes.substr(0, length)) : KeyOfCharacter(bytes.substr(0, length)));
    bytes.remove_prefix(length);
  }
  return keys;
}

bool EndsInSequence(std::string_view bytes) {
  while (!bytes.empty()) {
    if (bytes.front() != kEscape) {
      bytes.remove_prefix(1);
      continue;
    }
    const auto length = SequenceLength(bytes);
    if (!length) return true;
    bytes.remove_prefix(*length);
  }
  return false;
}

bool KeyTerminal::IsThere() {
  const char* type = std::getenv("TERM");
  return ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0 && type != nullptr && *type != '\0' &&
         std::string_view(type) != "dumb";
}

KeyTerminal::KeyTerminal(Screen screen) : changed_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  before.screen = screen;
  before.changed = changed_.get();
  (void)::tcgetattr(STDIN_FILENO, &before.mode);
  (void)::signal(SIGPIPE, SIG_IGN);
  for (const int number : kEnding) Handle(number, OnEnd);
  for (const int number : kChanging) Handle(number, OnChange);
  Handle(SIGTSTP, OnStop);
  Take();
}

KeyTerminal::~KeyTerminal() {
  GiveBack();
  for (const int number : kEnding) (void)::signal(number, SIG_DFL);
  for (const int number : kChanging) (void)::signal(number, SIG_DFL);
  (void)::signal(SIGTSTP, SIG_DFL);
  before.changed = -1;
}

void KeyTerminal::Take() {
  if (before.taken != 0) return;
  termios mode = before.mode;
  mode.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  mode.c_cc[VMIN] = 1;
  mode.c_cc[VTIME] = 0;
  before.taken = 1;
  (void)::tcsetattr(STDIN_FILENO, TCSADRAIN, &mode);
  if (before.screen == Screen::kAlternate) (void)Write(kEnterAlternate);
}

void KeyTerminal::GiveBack() {
  Restore();
}

void KeyTerminal::HeedChange() {
  eventfd_t count = 0;
  (void)::eventfd_read(changed_.get(), &count);
  Take();
}

std::optional<std::vector<Key>> KeyTerminal::Read() {
  constexpr int kRestOfSequence = 25;  // milliseconds; no person is that quick after Esc
  std::string typed;
  do {
    std::array<char, 1024> bytes{};
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) break;
    if (got <= 0) return std::nullopt;
    typed.append(bytes.data(), static_cast<std::size_t>(got));
    pollfd entry{STDIN_FILENO, POLLIN, 0};
    if (!EndsInSequence(typed) || ::poll(&entry, 1, kRestOfSequence) <= 0) break;
  } while (typed.size() < std::size_t{1} << 20U);
  return KeysIn(typed);
}

void KeyTerminal::DiscardTypeahead() {
  (void)::tcflush(STDIN_FILENO, TCIFLUSH);
}

bool KeyTerminal::Write(std::string_view text) {
  // After Ctrl-Z this may run before SIGCONT is handled, and Ctrl-Z may come in the middle of a write: nothing may be
  // written to the screen that was given back.
  const WithoutStop whole;
  Take();
  return os::WriteAll(STDOUT_FILENO, text).has_value();
}

bool KeyTerminal::Page(const std::string& text) {
  const char* chosen = std::getenv("PAGER");
  const std::string pager = chosen == nullptr || *chosen == '\0' ? "less" : chosen;
  GiveBack();
  // Meanwhile Ctrl-C is for the pager, and Ctrl-Z stops both processes.
  Handle(SIGINT, OnNothing);
  Handle(SIGQUIT, OnNothing);
  (void)::signal(SIGTSTP, SIG_DFL);
  FILE* pipe = ::popen(pager.c_str(), "we");
  const bool there = pipe != nullptr;
  int status = 0;
  if (there) {
    (void)std::fwrite(text.data(), 1, text.size(), pipe);
    status = ::pclose(pipe);
  }
  Handle(SIGINT, OnEnd);
  Handle(SIGQUIT, OnEnd);
  Handle(SIGTSTP, OnStop);
  Take();
  constexpr int kNotFound = 127;
  return there && (!WIFEXITED(status) || WEXITSTATUS(status) != kNotFound);
}

}  // namespace skerry::cli
