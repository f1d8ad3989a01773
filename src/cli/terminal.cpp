#include "cli/terminal.hpp"

#include <unistd.h>

#include "base/printable.hpp"
#include "os/files.hpp"

namespace skerry::cli {

void Note(std::string_view message) {
  (void)os::WriteAll(STDERR_FILENO, "skerry: " + base::Printable(message) + "\n");
}

int ReportError(const base::Error& error) {
  Note(error.message);
  return base::RowOf(error.code).exit_code;
}

bool Print(std::string_view text) {
  return os::WriteAll(STDOUT_FILENO, text).has_value();
}

}  // namespace skerry::cli
