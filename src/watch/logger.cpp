#include "watch/logger.hpp"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <ctime>

#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "base/utf8.hpp"
#include "json/history_json.hpp"
#include "json/text.hpp"

namespace skerry::watch {
namespace {

constexpr std::array<std::pair<LogLevel, std::string_view>, 5> kLevels = {{{LogLevel::kError, "error"},
                                                                           {LogLevel::kWarning, "warning"},
                                                                           {LogLevel::kNotice, "notice"},
                                                                           {LogLevel::kInfo, "info"},
                                                                           {LogLevel::kDebug, "debug"}}};

constexpr std::chrono::milliseconds kPatience{100};

// A value that could be taken for several values, or for none, is quoted.
std::string TextValue(std::string_view value) {
  if (!value.empty() && value.find_first_of(" =\"\\") == std::string_view::npos) return base::Printable(value);
  std::string quoted = "\"";
  for (const char byte : value) {
    if (byte == '"' || byte == '\\') quoted += '\\';
    quoted += byte;
  }
  return base::Printable(quoted + "\"");
}

std::string TextLine(LogLevel level, std::string_view message, const LogFields& fields) {
  std::string line = (level == LogLevel::kWarning ? "skerry: warning: " : "skerry: ") + base::Printable(message);
  for (const auto& [name, value] : fields) line += " " + base::Printable(name) + "=" + TextValue(value);
  return line + "\n";
}

std::string JsonLine(LogLevel level, std::string_view message, const LogFields& fields, std::string_view at) {
  nlohmann::ordered_json object = {
      {"at", base::ToValidUtf8(at)}, {"level", NameOf(level)}, {"message", base::ToValidUtf8(message)}};
  for (const auto& [name, value] : fields) {
    std::string free = base::ToValidUtf8(name);
    while (object.contains(free)) free += '_';
    object[free] = base::ToValidUtf8(value);
  }
  // JSON leaves DEL, C1 and direction overrides as they are. They occur in strings only, and Printable's form of them
  // is valid there.
  return base::Printable(json::Text(object)) + "\n";
}

// While the object lives, a write of this thread to a pipe without a reader fails and does not end the process.
class WithoutPipeSignal {
 public:
  WithoutPipeSignal() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  WithoutPipeSignal(const WithoutPipeSignal&) = delete;
  WithoutPipeSignal& operator=(const WithoutPipeSignal&) = delete;
  ~WithoutPipeSignal() {
    if (::sigismember(&before_, SIGPIPE) == 1) return;
    constexpr timespec kAtOnce{};
    while (::sigtimedwait(&pipe_, nullptr, &kAtOnce) < 0 && errno == EINTR) continue;
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

// Whether the whole line was written. In one write where the kernel takes it whole; waits `patience` at each step for a
// descriptor that is full and does not block.
bool WriteLine(int fd, std::string_view line, std::chrono::milliseconds patience) {
  const WithoutPipeSignal without_pipe_signal;
  while (!line.empty()) {
    const ssize_t count = ::write(fd, line.data(), line.size());
    if (count >= 0) {
      line.remove_prefix(static_cast<std::size_t>(count));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return false;
    pollfd space{.fd = fd, .events = POLLOUT, .revents = 0};
    if (::poll(&space, 1, static_cast<int>(patience.count())) == 0) return false;
  }
  return true;
}

}  // namespace

std::string_view NameOf(LogLevel level) {
  for (const auto& [known, name] : kLevels)
    if (known == level) return name;
  return "error";
}

std::optional<LogLevel> ParseLogLevel(std::string_view name) {
  for (const auto& [level, known] : kLevels)
    if (known == name) return level;
  return std::nullopt;
}

void Logger::Write(LogLevel level, std::string_view message, const LogFields& fields) const {
  if (!Wants(level)) return;
  const std::string line =
      LogLine(options_.format, level, message, fields, json::Rfc3339(std::chrono::system_clock::now()));
  const std::lock_guard lock(mutex_);
  lost_ = !WriteLine(options_.fd, line, lost_ ? std::chrono::milliseconds::zero() : kPatience);
}

std::string LogLine(LogFormat format, LogLevel level, std::string_view message, const LogFields& fields,
                    std::string_view at) {
  return format == LogFormat::kJson ? JsonLine(level, message, fields, at) : TextLine(level, message, fields);
}

}  // namespace skerry::watch
