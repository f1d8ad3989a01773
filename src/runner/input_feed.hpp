// Copies a descriptor of the caller into a program's stdin, never waiting for either side.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>

#include "base/unique_fd.hpp"

namespace skerry::runner {

// The program gets a pipe and never the caller's own descriptor, which may be a terminal or a file open for writing.
class InputFeed {
 public:
  // `source` is borrowed; -1 for no input. `sink` is the write end, non-blocking. `farewell` is written at the end of
  // the source, for a terminal, which cannot be closed on one side.
  InputFeed(int source, base::UniqueFd sink, std::string farewell = "");

  // What poll should wait for: at most one of the two at a time, -1 for nothing.
  [[nodiscard]] int WantsRead() const { return sink_.valid() && pending_.empty() ? source_ : -1; }
  [[nodiscard]] int WantsWrite() const { return sink_.valid() && !pending_.empty() ? sink_.get() : -1; }

  void Read();   // when the source is readable; at its end the program's stdin is closed
  void Write();  // when the sink is writable, or has lost its reader

 private:
  // How the source is read so that it never waits.
  enum class Manner {
    kPlain,   // files never do, and what we opened ourselves is non-blocking
    kSocket,  // by a flag of recv
    kNoWait,  // another user's pipe: by a flag of preadv2 where the kernel knows it
  };
  [[nodiscard]] ssize_t ReadInto(std::span<char> buffer) const;
  void EndSource();

  int source_;
  base::UniqueFd own_source_;  // the same pipe or terminal, opened for us alone so that reading it never waits
  Manner manner_ = Manner::kPlain;
  base::UniqueFd sink_;
  std::string pending_;
  std::string farewell_;
};

}  // namespace skerry::runner
