// InputFeed: the write end of a program's input: a pipe, or its terminal.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "core/process.hpp"

namespace skerry::runner {

// The pump writes the text that was there from the beginning, with WantsWrite and Write; any other thread brings more
// with Feed and Close. Nothing waits but AwaitRoom.
class InputFeed {
 public:
  // No input at all, and none to come.
  InputFeed() = default;
  // `sink` is non-blocking. `farewell` is written at the end of the input, for a terminal, which cannot be closed on
  // one side.
  InputFeed(std::string text, core::InputEnd end, base::UniqueFd sink, std::string farewell = "");
  InputFeed(const InputFeed&) = delete;
  InputFeed& operator=(const InputFeed&) = delete;

  // What the pump waits for to become writable; -1 for nothing.
  [[nodiscard]] int WantsWrite() const;
  // To be called then. When nobody reads any more the input ends.
  void Write();

  // As core::Process says.
  base::Result<std::size_t> Feed(std::string_view bytes);
  [[nodiscard]] bool AwaitRoom(base::Deadline deadline) const;
  base::Status Close();

 private:
  // With the lock.
  void EndText();

  mutable std::mutex mutex_;
  base::UniqueFd sink_;  // closed by the pump only while something is pending: the pump may wait at it
  std::string pending_;
  bool closing_ = true;  // at the end of what is pending
  std::string farewell_;
};

}  // namespace skerry::runner
