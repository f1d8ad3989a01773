// Analyses: what a daemon spends on assessing code. How much of it is under way at one time, whose turn it is, and how
// much each token may ask for.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/company.hpp"
#include "base/result.hpp"
#include "core/execution.hpp"
#include "core/risk.hpp"
#include "policy/risk_policy.hpp"

namespace skerry::engine {

// For whom code is assessed.
struct AnalysisOwner {
  std::string token;  // its id, or "local"
  std::string tenant;
};

struct AnalysesOptions {
  using Clock = std::chrono::steady_clock;

  std::size_t memory = std::size_t{512} << 20U;  // of all at one time; one alone may take what it needs
  // The rest is of one token. Work is that of policy::Budget: some nanoseconds a unit.
  std::uint64_t work_per_second = std::uint64_t{128} << 20U;  // in the long run
  std::uint64_t work_saved = std::uint64_t{1} << 30U;         // at most, while it asked for less
  std::size_t at_once = 2;
  std::size_t beside_others = std::max(1U, std::thread::hardware_concurrency() / 2);  // of a tenant; not of short code
  std::size_t waiting = 64;                            // for their turn; more are refused
  std::size_t waiting_bytes = std::size_t{32} << 20U;  // of their code
  std::chrono::seconds patience{30};                   // after which one that waits is refused
  std::function<Clock::time_point()> now = Clock::now;
};

// Thread-safe. A tenant has at most half of the memory, and an eighth of it is for code that is not large, so that
// nobody waits for somebody else's large code. Where other tenants asked lately, it has fewer at once. Of those that
// wait, that of the tenant who has the least under way is next.
class Analyses {
 public:
  explicit Analyses(AnalysesOptions options = {}) : options_(std::move(options)) {}
  Analyses(const Analyses&) = delete;
  Analyses& operator=(const Analyses&) = delete;

  // In the caller's thread, when its turn has come. kRateLimited when the token has asked for too much; kUnavailable
  // when `stop` was asked for, or Stop() was called.
  [[nodiscard]] base::Result<core::RiskAssessment> Assess(const policy::RiskPolicy& policy, core::Language language,
                                                          std::string_view code, const AnalysisOwner& owner,
                                                          const std::stop_token& stop,
                                                          std::vector<policy::CodeReference>* references = nullptr);

  // Work that a token caused besides an analysis.
  void Charge(const AnalysisOwner& owner, std::uint64_t work);

  // When a token that asked for too much may ask again.
  [[nodiscard]] std::chrono::seconds RetryAfter(const std::string& token);

  // Cancels all that are under way or wait, and refuses those to come: the end of the daemon.
  void Stop();
  // Asked for by Stop().
  [[nodiscard]] std::stop_token ending() const { return ending_.get_token(); }

  struct Statistics {
    std::size_t under_way = 0;
    std::size_t waiting = 0;
    std::size_t memory = 0;  // that those under way may take
  };
  [[nodiscard]] Statistics Now() const;

 private:
  using TimePoint = AnalysesOptions::Clock::time_point;
  struct Account {
    double left = 0;  // work; less than nothing after one that took more than was left
    TimePoint at;     // when that was
    std::size_t under_way = 0;
    std::size_t waiting = 0;
    std::size_t waiting_bytes = 0;
  };
  struct Turn {
    AnalysisOwner owner;
    std::size_t bytes = 0;   // of code
    std::size_t memory = 0;  // that it may take
    bool begun = false;
  };
  using Queue = std::list<Turn>;
  struct UnderWay {
    std::size_t count = 0;
    std::size_t memory = 0;
  };

  // Returns when it has begun.
  base::Status Await(Turn turn, const std::stop_token& stop);
  void Leave(const Turn& turn, std::uint64_t work);
  // With the lock.
  void Grant();
  void Settle(const Turn& turn, std::uint64_t work);
  Account& AccountOf(const std::string& token, TimePoint now);
  [[nodiscard]] bool MayBegin(const Turn& turn, TimePoint now);
  [[nodiscard]] Queue::iterator Next(TimePoint now);
  void ForgetIdle(TimePoint now);

  const AnalysesOptions options_;
  std::stop_source ending_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  Queue queue_;                              // in the order in which they came
  std::map<std::string, Account> accounts_;  // by token
  std::map<std::string, UnderWay> tenants_;
  base::Company company_;
  std::size_t memory_ = 0;  // of all under way
  std::size_t under_way_ = 0;
};

}  // namespace skerry::engine
