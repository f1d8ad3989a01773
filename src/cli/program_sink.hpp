// ProgramSink: a program's output on our own descriptors: byte for byte, except where a terminal would act on it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/fd_sink.hpp"
#include "cli/terminal_filter.hpp"

namespace skerry::cli {

enum class Shown {
  kLines,   // as TerminalFilter::Use, on descriptors that are terminals
  kScreen,  //
  kRaw,     // as it comes
};

class ProgramSink : public core::OutputSink {
 public:
  // Of stdout and stderr.
  ProgramSink(Shown shown, int interrupt_fd);
  // Of any two descriptors; without a filter as it comes.
  struct Outlet {
    int fd;
    std::optional<TerminalFilter> filter;
  };
  ProgramSink(Outlet out, Outlet err, int interrupt_fd)
      : sink_(out.fd, err.fd, interrupt_fd), out_(std::move(out.filter)), err_(std::move(err.filter)) {}

  core::SinkAnswer Write(core::Stream stream, std::string_view bytes, base::Deadline deadline) override;
  // Nothing more comes: writes what was held back, and takes back what the program left behind at a terminal.
  // Also after an interrupt; not longer than a moment where nobody reads.
  void Finish();

  // As of FdSink.
  [[nodiscard]] int error() const { return sink_.error(); }
  void Heed(int interrupt_fd) { sink_.Heed(interrupt_fd); }

 private:
  // False: not all of it fitted.
  bool WriteWaiting(base::Deadline deadline, core::SinkAnswer& answer);

  FdSink sink_;
  std::optional<TerminalFilter> out_;
  std::optional<TerminalFilter> err_;
  // What passed a filter and was not written yet. Nothing else is written before it: half a sequence of one stream and
  // the bytes of the other could make another sequence.
  std::string waiting_;
  core::Stream waits_for_ = core::Stream::kStdout;
};

}  // namespace skerry::cli
