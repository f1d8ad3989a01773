// ProgressLine and Spinner: what a person sees during a long operation.
//
// One line on stderr that is rewritten, from half a second on and ten times a second at most, and wiped at the end.
// Where stderr is no terminal, or a dumb one, not a byte is written.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/result.hpp"

namespace skerry::cli {

using ProgressTime = std::chrono::steady_clock::time_point;

// Where the line is shown.
struct ProgressScreen {
  std::function<void(std::string_view)> write;  // none: the line is not shown
  std::function<ProgressTime()> now;
  unsigned width = 80;
};
ProgressScreen StderrScreen();
// For commands that write to stdout: shows nothing when that is a terminal too, where the line would tear the output
// apart.
ProgressScreen StderrScreenBesideStdout();

// The line itself: cut to the width, rewritten in place, and not shown before its time. For one thread.
class StatusLine {
 public:
  explicit StatusLine(ProgressScreen screen)
      : screen_(std::move(screen)), began_(screen_.now()), next_(began_ + kDelay) {}
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  ~StatusLine() { Wipe(); }

  static constexpr std::chrono::milliseconds kDelay{500};
  static constexpr std::chrono::milliseconds kPause{100};

  // Whether Show would write now. Quick.
  [[nodiscard]] bool IsDue() const { return screen_.write && screen_.now() >= next_; }
  [[nodiscard]] std::chrono::duration<double> Elapsed() const { return screen_.now() - began_; }
  void Show(std::string_view text);
  void Wipe();

 private:
  ProgressScreen screen_;
  ProgressTime began_;
  ProgressTime next_;
  bool shown_ = false;
};

// The progress of bytes that are moved. For one thread.
class ProgressLine {
 public:
  // `what` is a word like "sent"; `size` is how many bytes there will be, where that is known.
  ProgressLine(std::string what, std::optional<std::uint64_t> size, ProgressScreen screen = StderrScreen())
      : what_(std::move(what)), size_(size), line_(std::move(screen)) {}

  void Add(std::uint64_t bytes) { Reach(bytes_ + bytes); }
  // So many bytes altogether; `more`, like ", 7 files", follows them.
  void Reach(std::uint64_t bytes, std::string_view more = "");

 private:
  std::string what_;
  std::optional<std::uint64_t> size_;
  StatusLine line_;
  std::uint64_t bytes_ = 0;
};

// "sent 12.3 MB of 40.0 MB, 30 %, 4.1 MB/s"
struct ProgressFigures {
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> size;
  std::string_view more;
  std::chrono::duration<double> elapsed{0};
};
std::string ProgressText(std::string_view what, const ProgressFigures& figures);

using Feed = std::function<base::Result<std::string>()>;
// The same bytes, counted. `line` is borrowed.
Feed Counted(Feed feed, ProgressLine& line);
// The bytes left in a regular file, from its present position.
std::optional<std::uint64_t> BytesLeftIn(int fd);

// A wait without a figure: turns in a thread of its own until it is destroyed, which wipes the line.
class Spinner {
 public:
  explicit Spinner(std::string what, ProgressScreen screen = StderrScreen());

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread thread_;
};

// "| makes the session, 3 s"
std::string SpinnerText(std::string_view what, std::chrono::duration<double> elapsed);

}  // namespace skerry::cli
