#include "cli/program_sink.hpp"

#include <unistd.h>

#include <chrono>

namespace skerry::cli {
namespace {

std::optional<TerminalFilter> FilterFor(int fd, Shown shown) {
  if (shown == Shown::kRaw || ::isatty(fd) != 1) return std::nullopt;
  return TerminalFilter(shown == Shown::kScreen ? TerminalFilter::Use::kScreen : TerminalFilter::Use::kLines);
}

}  // namespace

ProgramSink::ProgramSink(Shown shown, int interrupt_fd)
    : ProgramSink({.fd = STDOUT_FILENO, .filter = FilterFor(STDOUT_FILENO, shown)},
                  {.fd = STDERR_FILENO, .filter = FilterFor(STDERR_FILENO, shown)}, interrupt_fd) {}

bool ProgramSink::WriteWaiting(base::Deadline deadline, core::SinkAnswer& answer) {
  if (waiting_.empty()) return true;
  const core::SinkAnswer written = sink_.Write(waits_for_, waiting_, deadline);
  waiting_.erase(0, written.accepted);
  answer.wants_more = written.wants_more;
  return waiting_.empty();
}

core::SinkAnswer ProgramSink::Write(core::Stream stream, std::string_view bytes, base::Deadline deadline) {
  core::SinkAnswer answer;
  if (!WriteWaiting(deadline, answer)) return answer;
  auto& filter = stream == core::Stream::kStdout ? out_ : err_;
  if (!filter) return sink_.Write(stream, bytes, deadline);
  waiting_ = filter->Pass(bytes);
  waits_for_ = stream;
  answer.accepted = bytes.size();
  (void)WriteWaiting(deadline, answer);
  return answer;
}

void ProgramSink::Finish() {
  constexpr std::chrono::milliseconds kMoment{500};
  const auto deadline = base::Deadline::After(kMoment);
  sink_.Heed(-1);
  core::SinkAnswer answer;
  for (const core::Stream stream : {core::Stream::kStdout, core::Stream::kStderr}) {
    if (!WriteWaiting(deadline, answer)) return;
    auto& filter = stream == core::Stream::kStdout ? out_ : err_;
    if (!filter) continue;
    waiting_ = filter->Finish();
    waits_for_ = stream;
  }
  (void)WriteWaiting(deadline, answer);
}

}  // namespace skerry::cli
