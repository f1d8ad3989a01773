// Copies a descriptor of the caller into a program's stdin, never waiting for either side.
#pragma once

#include <string>

#include "base/unique_fd.hpp"

namespace skerry::runner {

// The program gets a pipe and never the caller's own descriptor, which may be a terminal or a file open for writing.
class InputFeed {
 public:
  // `source` is borrowed; -1 for no input. `sink` is the write end, non-blocking.
  InputFeed(int source, base::UniqueFd sink) : source_(source), sink_(std::move(sink)) {
    if (source_ < 0) sink_.Reset();
  }

  // What poll should wait for: at most one of the two at a time, -1 for nothing.
  [[nodiscard]] int WantsRead() const { return sink_.valid() && pending_.empty() ? source_ : -1; }
  [[nodiscard]] int WantsWrite() const { return sink_.valid() && !pending_.empty() ? sink_.get() : -1; }

  void Read();   // when the source is readable; at its end the program's stdin is closed
  void Write();  // when the sink is writable, or has lost its reader

 private:
  int source_;
  base::UniqueFd sink_;
  std::string pending_;
};

}  // namespace skerry::runner
