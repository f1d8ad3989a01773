// Logger: the log lines for the people who run the daemon.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skerry::watch {

enum class LogLevel {
  kError,
  kWarning,
  kNotice,  // what people should know
  kInfo,    // each request and each run
  kDebug,
};
std::string_view NameOf(LogLevel level);
std::optional<LogLevel> ParseLogLevel(std::string_view name);

enum class LogFormat {
  kText,  // skerry: message name=value name="with spaces"; warnings are called so
  kJson,  // {"at": …, "level": …, "message": …, "name": …}; a name that is taken gets a `_`
};

using LogFields = std::vector<std::pair<std::string, std::string>>;

struct LoggerOptions {
  LogLevel level = LogLevel::kNotice;
  LogFormat format = LogFormat::kText;
  int fd = 2;
};

// Thread-safe. Each line is one write; whatever a message holds, it stays one line, and control characters are shown. A
// line that cannot be written is lost: a descriptor that is closed, or full and does not block, ends nothing. A pipe
// that blocks because nobody reads it is waited for.
class Logger {
 public:
  explicit Logger(LoggerOptions options = {}) : options_(options) {}

  [[nodiscard]] bool Wants(LogLevel level) const { return level <= options_.level; }
  void Write(LogLevel level, std::string_view message, const LogFields& fields = {}) const;

 private:
  const LoggerOptions options_;
  mutable std::mutex mutex_;   // a line that the kernel takes in parts has no other in between
  mutable bool lost_ = false;  // whether the last line was lost; then the next one does not wait
};

// The line that the logger writes, with its line end. For tests.
std::string LogLine(LogFormat format, LogLevel level, std::string_view message, const LogFields& fields,
                    std::string_view at);

}  // namespace skerry::watch
