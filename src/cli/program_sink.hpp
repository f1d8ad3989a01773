// ProgramSink: a program's output on this process's descriptors: byte for byte, except where a terminal would act on
// it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/fd_sink.hpp"
#include "cli/terminal_filter.hpp"

namespace skerry::cli {

enum class Shown {
  kLines,   // filtered as TerminalFilter::Use says, on descriptors that are terminals
  kScreen,  //
  kRaw,     // unfiltered
};

class ProgramSink : public core::OutputSink {
 public:
  // For stdout and stderr.
  ProgramSink(Shown shown, int interrupt_fd);
  // For any two descriptors; without a filter bytes pass unchanged.
  struct Outlet {
    int fd;
    std::optional<TerminalFilter> filter;
  };
  ProgramSink(Outlet out, Outlet err, int interrupt_fd)
      : sink_(out.fd, err.fd, interrupt_fd), out_(std::move(out.filter)), err_(std::move(err.filter)) {}

  core::SinkAnswer Write(core::Stream stream, std::string_view bytes, base::Deadline deadline) override;
  // At the end of the output: writes what was held back, and undoes the modes that the program left at a terminal. Also
  // after an interrupt; takes only a moment when nothing reads.
  void Finish();

  // As in FdSink.
  [[nodiscard]] int error() const { return sink_.error(); }
  void Heed(int interrupt_fd) { sink_.Heed(interrupt_fd); }

 private:
  // False: not all bytes could be written.
  bool WriteWaiting(base::Deadline deadline, core::SinkAnswer& answer);

  FdSink sink_;
  std::optional<TerminalFilter> out_;
  std::optional<TerminalFilter> err_;
  // Bytes that passed a filter and were not written yet. Nothing else is written before them: half a sequence of one
  // stream and the bytes of the other could make another sequence.
  std::string waiting_;
  core::Stream waits_for_ = core::Stream::kStdout;
};

}  // namespace skerry::cli
