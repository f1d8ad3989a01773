// RunShares: whose runs begin when several tenants want to run programs.
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

#include "base/flow_limiter.hpp"
#include "core/output_sink.hpp"

namespace skerry::engine {

struct RunSharesOptions {
  std::size_t at_once = std::max(2U, std::thread::hardware_concurrency());  // runs that begin, of all tenants
  std::chrono::milliseconds beginning{50};                                  // how long a run counts as one that begins
  std::chrono::milliseconds remembered{1000};  // how long a tenant counts after its last run began
  // Bytes that the programs of a tenant write.
  base::Flow output{.per_second = 1 << 30U,
                    .beside_others = 32 << 20U,
                    .at_once = 8 << 20U,
                    .longest_wait = std::chrono::milliseconds(250)};
};

// Thread-safe. A run costs most when it begins: a sandbox, an interpreter. A tenant that is alone begins as many runs
// as it likes. Where other tenants ran something lately, each tenant has an equal share of the runs that begin, at
// least one, and its further runs wait in order.
class RunShares {
 public:
  explicit RunShares(RunSharesOptions options = {}) : options_(options), output_(options.output) {}
  RunShares(const RunShares&) = delete;
  RunShares& operator=(const RunShares&) = delete;

  // The turn of a run that begins: over after its time, or when it is destroyed.
  class Turn {
   public:
    Turn(Turn&& other) noexcept
        : shares_(std::exchange(other.shares_, nullptr)), tenant_(std::move(other.tenant_)), number_(other.number_) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn();

    // Takes another turn when this one is over: for a run that waited for something else meanwhile.
    void Renew(const std::stop_token& stop);

   private:
    friend class RunShares;
    Turn(RunShares& shares, std::string tenant, std::size_t number)
        : shares_(&shares), tenant_(std::move(tenant)), number_(number) {}
    RunShares* shares_;
    std::string tenant_;
    std::size_t number_;
  };

  // Waits for a turn, but not after `stop` was asked for.
  [[nodiscard]] Turn Take(std::string tenant, const std::stop_token& stop);

  // How long a program that wrote so many bytes has to wait.
  [[nodiscard]] std::chrono::milliseconds Write(const std::string& tenant, std::size_t bytes);

 private:
  using Clock = std::chrono::steady_clock;
  struct Tenant {
    std::map<std::size_t, Clock::time_point> begun;  // when each run stops counting as one that begins
    std::list<std::condition_variable_any> waiting;
    Clock::time_point last;  // when the last run began
  };

  std::size_t Begin(const std::string& name, const std::stop_token& stop);
  void End(const std::string& name, std::size_t number);
  // These need the lock.
  [[nodiscard]] bool HasBegun(const std::string& name, std::size_t number);
  [[nodiscard]] std::size_t ShareOf(const std::string& name, Clock::time_point now) const;
  void Forget(Clock::time_point now);

  const RunSharesOptions options_;
  std::mutex mutex_;
  std::map<std::string, Tenant> tenants_;
  std::size_t next_number_ = 1;
  base::FlowLimiter output_;
};

// Slows down a program that writes more than its tenant's share.
class SharingSink : public core::OutputSink {
 public:
  SharingSink(core::OutputSink& sink, RunShares& shares, std::string tenant, std::stop_token stop)
      : sink_(sink), shares_(shares), tenant_(std::move(tenant)), stop_(std::move(stop)) {}
  core::SinkAnswer Write(core::Stream stream, std::string_view bytes, base::Deadline deadline) override;
  void Drop(std::size_t bytes, base::Deadline deadline) override;

 private:
  void Pace(std::size_t bytes, base::Deadline deadline);

  core::OutputSink& sink_;
  RunShares& shares_;
  const std::string tenant_;
  const std::stop_token stop_;
  std::mutex mutex_;
  std::condition_variable_any never_;
};

}  // namespace skerry::engine
