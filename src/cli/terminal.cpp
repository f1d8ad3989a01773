#include "cli/terminal.hpp"

#include <unistd.h>

#include "base/printable.hpp"
#include "os/files.hpp"

namespace skerry::cli {

void Note(std::string_view message) {
  (void)os::WriteAll(STDERR_FILENO, "skerry: " + base::Printable(message) + "\n");
}

// The lines after the first one of an error show details, like a similar place in a file; they are indented.
static void NoteLines(std::string_view message) {
  Note(message.substr(0, message.find('\n')));
  while (message.contains('\n')) {
    message.remove_prefix(message.find('\n') + 1);
    (void)os::WriteAll(STDERR_FILENO, "  " + base::Printable(message.substr(0, message.find('\n'))) + "\n");
  }
}

int ReportError(const base::Error& error) {
  NoteLines(error.message);
  return base::RowOf(error.code).exit_code;
}

bool Print(std::string_view text) {
  return os::WriteAll(STDOUT_FILENO, text).has_value();
}

}  // namespace skerry::cli
