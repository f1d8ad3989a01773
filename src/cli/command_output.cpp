#include "cli/command_output.hpp"

#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "base/utf8.hpp"
#include "cli/terminal.hpp"
#include "json/text.hpp"
#include "os/errno_error.hpp"

namespace skerry::cli {

using Json = nlohmann::ordered_json;

int Conclude(const base::Result<int>& result, Form form) {
  if (result) return *result;
  const base::CodeRow& row = base::RowOf(result.error().code);
  const Json object = {{"success", false},
                       {"error", base::ToValidUtf8(result.error().message)},
                       {"error_code", row.name},
                       {"exit_code", row.exit_code}};
  if (form == Form::kJson) (void)WriteJson(object);
  return ReportError(result.error());
}

base::Status WriteText(const std::string& text) {
  if (Print(text)) return {};
  return base::Err(base::Code::kInternal, "cannot write to stdout");
}

base::Status WriteJson(const Json& object) {
  return WriteText(json::Text(object) + "\n");
}

base::Status JsonStream::Add(const Json& item) {
  const std::string head = begun_ ? ",\n" : "{\"" + name_ + "\": [\n";
  begun_ = true;
  return sink_.Write(head + json::Text(item));
}

base::Status JsonStream::End(const Json& rest) {
  const std::string head = begun_ ? "\n], " : "{\"" + name_ + "\": [], ";
  return sink_.Write(head + json::Text(rest).substr(1) + "\n");
}

base::Status StdoutSink::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      reader_left_ = errno == EPIPE;
      return os::ErrnoErr("write to stdout");
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

base::Result<int> StdoutSink::ExitCode(const base::Status& status) const {
  if (status) return 0;
  if (reader_left_) return 128 + SIGPIPE;
  return std::unexpected(status.error());
}

std::string PrintableLine(std::string_view line) {
  std::string text;
  for (std::size_t tab = line.find('\t'); tab != std::string_view::npos; tab = line.find('\t')) {
    text += base::Printable(line.substr(0, tab)) + '\t';
    line.remove_prefix(tab + 1);
  }
  return text + base::Printable(line);
}

}  // namespace skerry::cli
