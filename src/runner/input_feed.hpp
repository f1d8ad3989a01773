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

// The pump writes the text that was given at the beginning, with WantsWrite and Write; any other thread adds bytes with
// Feed and Close. Only AwaitRoom waits.
class InputFeed {
 public:
  // No input, and an end that has come already.
  InputFeed() = default;
  // `sink` is non-blocking. `farewell` is written at the end of the input, for a terminal, which cannot be closed on
  // one side.
  InputFeed(std::string text, core::InputEnd end, base::UniqueFd sink, std::string farewell = "");
  InputFeed(const InputFeed&) = delete;
  InputFeed& operator=(const InputFeed&) = delete;

  // The descriptor that the pump waits for until it is writable; -1 for none.
  [[nodiscard]] int WantsWrite() const;
  // Called when that descriptor is writable. When the program has closed its end, the input ends.
  void Write();

  // As core::Process promises.
  base::Result<std::size_t> Feed(std::string_view bytes);
  [[nodiscard]] bool AwaitRoom(base::Deadline deadline) const;
  base::Status Close();

 private:
  // Called with the lock held.
  void EndText();

  mutable std::mutex mutex_;
  base::UniqueFd sink_;  // while text is pending only the pump closes it: the pump may be polling it
  std::string pending_;
  bool closing_ = true;  // the input ends after the pending text
  std::string farewell_;
};

}  // namespace skerry::runner
