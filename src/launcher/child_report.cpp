#include "launcher/child_report.hpp"

#include <string.h>  // NOLINT(modernize-deprecated-headers): strnlen
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "os/socket.hpp"

namespace skerry::launcher {

void Fail(const ChildPlan& plan, int error, const char* step, const char* detail) {
  SetupFailure failure;
  failure.error = error;
  std::size_t at = 0;
  for (const char* part : {step, detail}) {
    const std::size_t room = failure.step.size() - 1 - at;
    const std::size_t size = std::min(::strnlen(part, room), room);
    std::memcpy(failure.step.data() + at, part, size);
    at += size;
  }
  // If even this cannot be sent, the launcher sees the socket close and the exit code.
  (void)::send(plan.report, &failure, sizeof failure, MSG_NOSIGNAL);
  ::_exit(125);
}

void Check(const ChildPlan& plan, int error, const char* step, const char* detail) {
  if (error != 0) Fail(plan, error, step, detail);
}

int Outcome(long result) {
  return result < 0 ? errno : 0;
}

int HandOut(int report, Handout what, std::span<const int> fds) {
  const auto byte = static_cast<char>(what);
  return os::SendDescriptors(report, {&byte, 1}, fds);
}

}  // namespace skerry::launcher
