// Turns: work that takes much of the machine is done by few callers at one time, and no tenant keeps the others
// waiting.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <utility>

#include "base/result.hpp"

namespace skerry::base {

// Thread-safe.
class Turns {
 public:
  explicit Turns(std::size_t at_once) : at_once_(at_once) {}
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  // The right to do the work. It ends with its destructor.
  class Turn {
   public:
    Turn(Turn&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)), tenant_(std::move(other.tenant_)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn();

   private:
    friend class Turns;
    Turn(Turns& turns, std::string tenant) : turns_(&turns), tenant_(std::move(tenant)) {}
    Turns* turns_;
    std::string tenant_;
  };

  // Waits until the tenant has no other turn and fewer than `at_once` turns are taken. kUnavailable when `stop` was
  // requested.
  [[nodiscard]] Result<Turn> Take(std::string tenant, const std::stop_token& stop = {});

 private:
  const std::size_t at_once_;
  std::mutex mutex_;
  std::condition_variable_any over_;
  std::set<std::string> taken_;  // by tenant
};

}  // namespace skerry::base
