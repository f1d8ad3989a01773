#include "runner/command_pump.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "os/errno_error.hpp"

namespace skerry::runner {
namespace {

constexpr std::size_t kChunk = 65536;
enum Slot : std::size_t { kOut, kErr, kInputSink, kControl, kOtherControl, kWake, kInterrupt, kSlots };

bool Ready(const pollfd& entry) {
  return entry.revents != 0;
}

}  // namespace

bool CommandPump::ReadOnce(int fd, core::Stream stream, std::size_t limit, base::Deadline deadline) {
  std::array<char, kChunk> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read
  const ssize_t count = ::read(fd, buffer.data(), std::min(limit, buffer.size()));
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  if (count == 0) return false;
  Deliver(stream, {buffer.data(), static_cast<std::size_t>(count)}, deadline);
  return true;
}

void CommandPump::Deliver(core::Stream stream, std::string_view bytes, base::Deadline deadline) {
  total_ += bytes.size();
  const std::string_view fitting = bytes.substr(0, room_);
  truncated_ = truncated_ || fitting.size() < bytes.size();
  room_ -= fitting.size();
  if (fitting.size() < bytes.size()) sink_.Drop(bytes.size() - fitting.size(), deadline);
  if (fitting.empty() || !wanted_) return;
  if (!held_.bytes.empty() && held_.stream == stream) {
    held_.bytes.append(fitting);
    return;
  }
  const core::SinkAnswer answer = sink_.Write(stream, fitting, deadline);
  wanted_ = answer.wants_more;
  if (wanted_ && answer.accepted < fitting.size()) held_ = {stream, std::string(fitting.substr(answer.accepted))};
}

void CommandPump::DeliverHeld(base::Deadline deadline) {
  if (held_.bytes.empty() || !wanted_) return;
  const core::SinkAnswer answer = sink_.Write(held_.stream, held_.bytes, deadline);
  wanted_ = answer.wants_more;
  held_.bytes.erase(0, answer.accepted);
}

base::Result<PumpEnd> CommandPump::Run(Sources& sources, InputFeed& input, base::Deadline deadline) {
  for (;;) {
    if (deadline.Expired()) return PumpEnd::kDeadline;
    std::array<pollfd, kSlots> entries = {pollfd{sources.standard_output.get(), POLLIN, 0},
                                          pollfd{sources.standard_error.get(), POLLIN, 0},
                                          pollfd{input.WantsWrite(), POLLOUT, 0},
                                          pollfd{sources.controls[0], POLLIN, 0},
                                          pollfd{sources.controls[1], POLLIN, 0},
                                          pollfd{sources.controls[2], POLLIN, 0},
                                          pollfd{sources.interrupt, POLLIN, 0}};
    if (::poll(entries.data(), entries.size(), deadline.PollTimeoutMs()) < 0) {
      if (errno == EINTR) continue;
      return os::ErrnoErr("poll");
    }
    if (Ready(entries[kInterrupt])) return PumpEnd::kCancelled;
    if (Ready(entries[kOut]) && !ReadOnce(sources.standard_output.get(), core::Stream::kStdout, kChunk, deadline))
      sources.standard_output.Reset();
    if (Ready(entries[kErr]) && !ReadOnce(sources.standard_error.get(), core::Stream::kStderr, kChunk, deadline))
      sources.standard_error.Reset();
    if (Ready(entries[kInputSink])) input.Write();
    if (!wanted_ && !reads_on_) return PumpEnd::kCancelled;
    if (Ready(entries[kControl]) || Ready(entries[kOtherControl]) || Ready(entries[kWake]))
      return PumpEnd::kControlReady;
  }
}

// The bytes in a pipe are counted first, so that a process that keeps writing is not waited for. A terminal shows bytes
// a moment after they were written: there silence is the end.
void CommandPump::DrainOne(const base::UniqueFd& fd, core::Stream stream, base::Deadline deadline) {
  if (!fd.valid()) return;
  if (::isatty(fd.get()) == 1) {
    DrainTerminal(fd.get(), stream, deadline);
    return;
  }
  int available = 0;
  if (::ioctl(fd.get(), FIONREAD, &available) < 0) return;
  while (available > 0 && wanted_ && held_.bytes.empty()) {
    const std::uint64_t before = total_;
    if (!ReadOnce(fd.get(), stream, static_cast<std::size_t>(available), deadline) || total_ == before) return;
    available -= static_cast<int>(total_ - before);
  }
}

void CommandPump::DrainTerminal(int fd, core::Stream stream, base::Deadline deadline) {
  constexpr int kSilenceMs = 50;
  constexpr std::uint64_t kMost = 1U << 20U;
  const std::uint64_t start = total_;
  while (wanted_ && held_.bytes.empty() && total_ - start < kMost) {
    pollfd entry{fd, POLLIN, 0};
    if (::poll(&entry, 1, kSilenceMs) <= 0) return;
    if (!ReadOnce(fd, stream, kChunk, deadline)) return;
  }
}

bool CommandPump::Drain(Sources& sources, base::Deadline deadline) {
  DeliverHeld(deadline);
  DrainOne(sources.standard_output, core::Stream::kStdout, deadline);
  DrainOne(sources.standard_error, core::Stream::kStderr, deadline);
  return held_.bytes.empty() || !wanted_;
}

}  // namespace skerry::runner
