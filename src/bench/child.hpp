// A program started with posix_spawn, so that starting it costs the same however large this process is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "os/pidfd.hpp"

namespace skerry::bench {

struct Command {
  std::vector<std::string> arguments;  // the first one is the path of the program
  std::vector<std::string> environment;
};

enum class Input { kEmpty, kPipe };

// Runs in a process group of its own with default signals. The destructor kills the group and waits for the program.
class Child {
 public:
  static base::Result<Child> Spawn(const Command& command, Input input);
  Child(Child&&) noexcept = default;
  Child& operator=(Child&&) = delete;
  ~Child();

  // Writes a few bytes: more than the program has room for is an error.
  base::Status Write(std::string_view bytes) const;
  void CloseInput() { input_.Reset(); }

  // The next line, without its end. kUnavailable when the output ends before.
  base::Result<std::string> ReadLine(base::Deadline deadline);

  // Waits for the end of the output and of the program. kExecutionFailed with the program's stderr when it did not exit
  // with 0. kTimeout leaves it running.
  base::Result<std::string> Finish(base::Deadline deadline);

 private:
  Child(os::PidFd process, base::UniqueFd input, base::UniqueFd output, base::UniqueFd errors)
      : process_(std::move(process)),
        input_(std::move(input)),
        output_(std::move(output)),
        errors_(std::move(errors)) {}

  // False at the end of the output.
  base::Result<bool> ReadMore(base::Deadline deadline);
  [[nodiscard]] base::Error HowItFailed(int status) const;

  os::PidFd process_;  // invalid once reaped
  base::UniqueFd input_;
  base::UniqueFd output_;
  base::UniqueFd errors_;  // a file in memory: a pipe could fill up
  std::string read_;
};

}  // namespace skerry::bench
