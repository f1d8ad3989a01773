// Sends a cell's output to the client as it comes.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "base/unique_fd.hpp"
#include "core/output_sink.hpp"

namespace skerry::cli {

// A client who is gone makes it ask for a stop and drop what comes; it never says that it wants no more, for that would
// cost the context its life. One who does not read is waited for until the deadline, or a moment after a stop; what
// comes then is kept as far as there is room.
class ContextSink : public core::OutputSink {
 public:
  ContextSink(int socket, std::stop_source stop);
  core::SinkAnswer Write(core::Stream stream, std::string_view bytes, base::Deadline deadline) override;

  // Sends what is left. False when the client has not taken it: nothing more can be said to it.
  bool Finish(base::Deadline deadline);

 private:
  struct Wake {
    int fd;
    void operator()() const;
  };

  void Send(base::Deadline deadline);
  // False when there is no room by the deadline.
  bool AwaitRoom(base::Deadline deadline);

  int socket_;
  std::stop_source stop_;
  base::UniqueFd stopped_;
  std::stop_callback<Wake> wake_;
  std::optional<base::Deadline> after_stop_;  // for all waiting from then on
  bool gone_ = false;
  std::string pending_;
};

}  // namespace skerry::cli
