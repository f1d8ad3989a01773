// Waits for many descriptors at once, at a cost that does not grow with those that are quiet.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::os {

class EventSet {
 public:
  static base::Result<EventSet> Create();

  // `token` comes back from Wait while `fd` is readable or has lost its other side.
  base::Status Add(int fd, std::uint64_t token) const;
  // To be called before the descriptor is closed or handed on: copies of it elsewhere would keep it in the set.
  void Remove(int fd) const;

  // The tokens of what is ready, none at the deadline. Valid until the next call.
  base::Result<std::span<const std::uint64_t>> Wait(base::Deadline deadline);

 private:
  explicit EventSet(base::UniqueFd fd) : fd_(std::move(fd)) {}

  base::UniqueFd fd_;
  std::array<std::uint64_t, 64> tokens_{};
};

}  // namespace skerry::os
