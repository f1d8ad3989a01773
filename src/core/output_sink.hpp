// Where the output of a running program goes, piece by piece.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/deadline.hpp"

namespace skerry::core {

enum class Stream { kStdout, kStderr };

struct SinkAnswer {
  std::size_t accepted = 0;  // how many of the bytes were taken; fewer only at the deadline
  bool wants_more = true;    // false: the reader wants no more, and the program is ended
};

// Called from the thread that executes, one call at a time, with the bytes that the program wrote. A sink that is slow
// slows the program down: nothing is buffered without end. The sink gives up waiting at the deadline, so that a reader
// that has stopped reading cannot keep a program alive past its time.
class OutputSink {
 public:
  OutputSink() = default;
  OutputSink(const OutputSink&) = delete;
  OutputSink& operator=(const OutputSink&) = delete;
  virtual ~OutputSink() = default;
  virtual SinkAnswer Write(Stream stream, std::string_view bytes, base::Deadline deadline) = 0;
  // The program wrote so many bytes beyond its output limit; they were read and dropped.
  virtual void Drop(std::size_t bytes, base::Deadline deadline);
};

inline void OutputSink::Drop(std::size_t, base::Deadline) {}

}  // namespace skerry::core
