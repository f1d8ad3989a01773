#include "cli/progress.hpp"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "os/files.hpp"

namespace skerry::cli {
namespace {

constexpr std::string_view kWiped = "\r\x1b[K";

bool IsCapable(int fd) {
  const char* type = std::getenv("TERM");
  return ::isatty(fd) == 1 && type != nullptr && *type != '\0' && std::string_view(type) != "dumb";
}

unsigned WidthOf(int fd) {
  constexpr unsigned kUsual = 80;
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

std::string Megabytes(double bytes) {
  constexpr double kMegabyte = 1e6;
  std::array<char, 32> text{};
  const int size = std::snprintf(text.data(), text.size(), "%.1f MB", bytes / kMegabyte);
  return {text.data(), static_cast<std::size_t>(size)};
}

// Characters of several bytes are not torn apart.
std::string_view Cut(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  for (std::size_t used = 0; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
    if (begins && ++used > columns) break;
  }
  return text.substr(0, end);
}

}  // namespace

ProgressScreen StderrScreen() {
  ProgressScreen screen{.write = {}, .now = std::chrono::steady_clock::now, .width = WidthOf(STDERR_FILENO)};
  if (IsCapable(STDERR_FILENO)) screen.write = [](std::string_view text) { (void)os::WriteAll(STDERR_FILENO, text); };
  return screen;
}

ProgressScreen StderrScreenBesideStdout() {
  ProgressScreen screen = StderrScreen();
  if (::isatty(STDOUT_FILENO) == 1) screen.write = {};
  return screen;
}

void StatusLine::Show(std::string_view text) {
  constexpr std::string_view kBefore = "skerry: ";
  if (!IsDue()) return;
  next_ = screen_.now() + kPause;
  shown_ = true;
  // A line that reaches the last column could continue in the next row, which would not be wiped.
  const std::size_t columns = std::max<std::size_t>(screen_.width, 2) - 1;
  screen_.write(std::string(kWiped) + std::string(Cut(std::string(kBefore) + std::string(text), columns)));
}

void StatusLine::Wipe() {
  if (std::exchange(shown_, false)) screen_.write(kWiped);
}

void ProgressLine::Reach(std::uint64_t bytes, std::string_view more) {
  bytes_ = bytes;
  if (!line_.IsDue()) return;
  line_.Show(ProgressText(what_, {.bytes = bytes_, .size = size_, .more = more, .elapsed = line_.Elapsed()}));
}

std::string ProgressText(std::string_view what, const ProgressFigures& figures) {
  const auto bytes = static_cast<double>(figures.bytes);
  std::string text = std::string(what) + " " + Megabytes(bytes);
  if (figures.size.value_or(0) > 0) {
    const auto size = static_cast<double>(*figures.size);
    // A file may grow while it is read.
    const auto percent = static_cast<unsigned>(std::min(100.0, 100.0 * bytes / size));
    text += " of " + Megabytes(size) + ", " + std::to_string(percent) + " %";
  }
  text += figures.more;
  if (figures.elapsed.count() > 0) text += ", " + Megabytes(bytes / figures.elapsed.count()) + "/s";
  return text;
}

Feed Counted(Feed feed, ProgressLine& line) {
  return [feed = std::move(feed), &line]() -> base::Result<std::string> {
    auto block = feed();
    if (block) line.Add(block->size());
    return block;
  };
}

std::optional<std::uint64_t> BytesLeftIn(int fd) {
  struct stat facts{};
  if (::fstat(fd, &facts) < 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  const off_t at = ::lseek(fd, 0, SEEK_CUR);
  if (at < 0 || at > facts.st_size) return std::nullopt;
  return static_cast<std::uint64_t>(facts.st_size - at);
}

Spinner::Spinner(std::string what, ProgressScreen screen) {
  if (!screen.write) return;
  thread_ = std::jthread([this, what = std::move(what), screen = std::move(screen)](const std::stop_token& stop) {
    StatusLine line(screen);
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, stop, StatusLine::kPause, [] { return false; }) && !stop.stop_requested())
      line.Show(SpinnerText(what, line.Elapsed()));
  });
}

std::string SpinnerText(std::string_view what, std::chrono::duration<double> elapsed) {
  constexpr std::string_view kTurns = "|/-\\";
  constexpr double kTurnsPerSecond = 10;
  const auto turn = static_cast<std::size_t>(elapsed.count() * kTurnsPerSecond) % kTurns.size();
  return std::string(1, kTurns[turn]) + " " + std::string(what) + ", " +
         std::to_string(static_cast<unsigned>(elapsed.count())) + " s";
}

}  // namespace skerry::cli
