// Analyses: what a daemon spends on assessing code: how many analyses are under way at one time, whose turn is next,
// and how much each token may ask for.
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
  std::string token;  // the token's id, or "local"
  std::string tenant;
};

struct AnalysesOptions {
  using Clock = std::chrono::steady_clock;

  std::size_t memory =
      std::size_t{512} << 20U;  // of all analyses at one time; an analysis that is alone may take what it needs
  // The rest is for one token. Work is that of policy::Budget: some nanoseconds a unit.
  std::uint64_t work_per_second = std::uint64_t{128} << 20U;  // in the long run
  std::uint64_t work_saved = std::uint64_t{1} << 30U;         // the most that a token saves while it asks for less
  std::size_t at_once = 2;
  std::size_t beside_others =
      std::max(1U, std::thread::hardware_concurrency() / 2);  // analyses of one tenant; short code does not count
  std::size_t waiting = 64;                                   // analyses that wait for their turn; more are refused
  std::size_t waiting_bytes = std::size_t{32} << 20U;         // of their code
  std::chrono::seconds patience{30};                          // after which a waiting analysis is refused
  std::function<Clock::time_point()> now = Clock::now;
};

// Thread-safe. A tenant has at most half of the memory, and large code leaves an eighth of it free, so that no tenant
// waits for another's large code. Where other tenants asked lately, a tenant has fewer analyses at once. The next turn
// goes to the waiting tenant with the least memory under way.
class Analyses {
 public:
  explicit Analyses(AnalysesOptions options = {}) : options_(std::move(options)) {}
  Analyses(const Analyses&) = delete;
  Analyses& operator=(const Analyses&) = delete;

  // Assesses in the caller's thread, when its turn has come. kRateLimited when the token has asked for too much;
  // kUnavailable when `stop` was asked for, or Stop() was called.
  [[nodiscard]] base::Result<core::RiskAssessment> Assess(const policy::RiskPolicy& policy, core::Language language,
                                                          std::string_view code, const AnalysisOwner& owner,
                                                          const std::stop_token& stop,
                                                          std::vector<policy::CodeReference>* references = nullptr);

  // Charges a token for work that it caused besides an analysis.
  void Charge(const AnalysisOwner& owner, std::uint64_t work);

  // When a token that asked for too much may ask again.
  [[nodiscard]] std::chrono::seconds RetryAfter(const std::string& token);

  // Cancels all analyses that are under way or wait, and refuses later ones: the end of the daemon.
  void Stop();
  // Asked for by Stop().
  [[nodiscard]] std::stop_token ending() const { return ending_.get_token(); }

  struct Statistics {
    std::size_t under_way = 0;
    std::size_t waiting = 0;
    std::size_t memory = 0;  // that the analyses under way may take
  };
  [[nodiscard]] Statistics Now() const;

 private:
  using TimePoint = AnalysesOptions::Clock::time_point;
  struct Account {
    double left = 0;  // work; negative after an analysis that took more than was left
    TimePoint at;     // when `left` was counted
    std::size_t under_way = 0;
    std::size_t waiting = 0;
    std::size_t waiting_bytes = 0;
  };
  struct Turn {
    AnalysisOwner owner;
    std::size_t bytes = 0;   // of the code
    std::size_t memory = 0;  // that the analysis may take
    bool begun = false;
  };
  using Queue = std::list<Turn>;
  struct UnderWay {
    std::size_t count = 0;
    std::size_t memory = 0;
  };

  // Returns when the analysis may begin.
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
  Queue queue_;                              // in the order of arrival
  std::map<std::string, Account> accounts_;  // by token
  std::map<std::string, UnderWay> tenants_;
  base::Company company_;
  std::size_t memory_ = 0;  // of all analyses under way
  std::size_t under_way_ = 0;
};

}  // namespace skerry::engine
