// RunShares: whose programs begin when several tenants want to run some.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

namespace skerry::engine {

struct RunSharesOptions {
  std::size_t at_once = std::max(2U, std::thread::hardware_concurrency());  // that begin, of all tenants
  std::chrono::milliseconds beginning{50};                                  // how long a run counts as one that begins
  std::chrono::milliseconds remembered{1000};  // how long a tenant counts after it began its last
};

// Thread-safe. A run costs most when it begins: a sandbox, an interpreter. A tenant that is alone begins as many as it
// likes. Where others ran something lately, each tenant has an equal share of those that begin, at least one, and its
// further ones wait in the order in which they came.
class RunShares {
 public:
  explicit RunShares(RunSharesOptions options = {}) : options_(options) {}
  RunShares(const RunShares&) = delete;
  RunShares& operator=(const RunShares&) = delete;

  // Is over after its time, or when it is destroyed.
  class Turn {
   public:
    Turn(Turn&& other) noexcept
        : shares_(std::exchange(other.shares_, nullptr)), tenant_(std::move(other.tenant_)), number_(other.number_) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn();

    // Takes another one when it is over: for what waited for something else meanwhile.
    void Renew(const std::stop_token& stop);

   private:
    friend class RunShares;
    Turn(RunShares& shares, std::string tenant, std::size_t number)
        : shares_(&shares), tenant_(std::move(tenant)), number_(number) {}
    RunShares* shares_;
    std::string tenant_;
    std::size_t number_;
  };

  // Waits for it, but not after `stop` was asked for.
  [[nodiscard]] Turn Take(std::string tenant, const std::stop_token& stop);

 private:
  using Clock = std::chrono::steady_clock;
  struct Tenant {
    std::map<std::size_t, Clock::time_point> begun;  // when each begins no longer
    std::list<std::condition_variable_any> waiting;
    Clock::time_point last;  // when one was begun
  };

  std::size_t Begin(const std::string& name, const std::stop_token& stop);
  void End(const std::string& name, std::size_t number);
  // With the lock.
  [[nodiscard]] bool HasBegun(const std::string& name, std::size_t number);
  [[nodiscard]] std::size_t ShareOf(const std::string& name, Clock::time_point now) const;
  void Forget(Clock::time_point now);

  const RunSharesOptions options_;
  std::mutex mutex_;
  std::map<std::string, Tenant> tenants_;
  std::size_t next_number_ = 1;
};

}  // namespace skerry::engine
