// FdSink: passes a program's output on to this process's descriptors, byte for byte.
#pragma once

#include "core/output_sink.hpp"

namespace skerry::cli {

// Never blocks past the deadline, nor when `interrupt_fd` becomes readable: a reader that stopped reading holds nothing
// up.
class FdSink : public core::OutputSink {
 public:
  FdSink(int out_fd, int err_fd, int interrupt_fd) : out_fd_(out_fd), err_fd_(err_fd), interrupt_fd_(interrupt_fd) {}
  core::SinkAnswer Write(core::Stream stream, std::string_view bytes, base::Deadline deadline) override;

  void Heed(int interrupt_fd) { interrupt_fd_ = interrupt_fd; }

  // The errno of a failed write (EPIPE, ENOSPC), else 0.
  [[nodiscard]] int error() const { return error_; }

 private:
  int out_fd_;
  int err_fd_;
  int interrupt_fd_;
  int error_ = 0;
};

}  // namespace skerry::cli
