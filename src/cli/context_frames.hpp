// What skerry and its keeper of contexts say to each other: JSON texts, each with its length before it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/deadline.hpp"
#include "base/result.hpp"

namespace skerry::cli {

inline constexpr std::size_t kMaxFrameBytes = std::size_t{128} << 20U;

// The text with its length; at most kMaxFrameBytes.
std::string FrameOf(std::string_view text);

// kTooLarge beyond kMaxFrameBytes, kTimeout at the deadline; then the other side can make nothing of what follows.
base::Status SendFrame(int socket, std::string_view text, base::Deadline deadline);

// Reads frames from a socket, which is borrowed.
class FrameReader {
 public:
  explicit FrameReader(int socket) : socket_(socket) {}

  // Takes what has arrived, without waiting. False when the other side has closed, or said what is no frame.
  bool Fill();
  // The next whole frame, if it is there.
  std::optional<std::string> Take();
  // Waits for it. Nothing when the other side has closed; kTimeout at the deadline.
  base::Result<std::optional<std::string>> Next(base::Deadline deadline);

 private:
  int socket_;
  std::string bytes_;
  bool broken_ = false;
};

}  // namespace skerry::cli
