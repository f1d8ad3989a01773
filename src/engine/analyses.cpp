#include "engine/analyses.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "policy/budget.hpp"

namespace skerry::engine {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr std::size_t kPartsOfATenant = 2;   // a tenant has one of so many
constexpr std::size_t kPartsForSmall = 8;    // one of so many is kept free of large code
constexpr std::size_t kLarge = 64U << 10U;   // from so many bytes on
constexpr std::size_t kMostAccounts = 1024;  // before idle ones with all their work saved are forgotten
constexpr std::size_t kShort = 4U << 10U;    // up to here code costs little
constexpr std::chrono::milliseconds kBetweenLooks{250};

base::Error Cancelled(const std::stop_source& ending) {
  return {base::Code::kUnavailable, ending.stop_requested() ? "the daemon ends; the code was not assessed"
                                                            : "nobody waits for the assessment any more"};
}

}  // namespace

base::Result<core::RiskAssessment> Analyses::Assess(const policy::RiskPolicy& policy, core::Language language,
                                                    std::string_view code, const AnalysisOwner& owner,
                                                    const std::stop_token& stop,
                                                    std::vector<policy::CodeReference>* references) {
  const policy::BudgetLimits limits = policy::Budget::LimitsFor(code.size());
  const Turn turn{.owner = owner, .bytes = code.size(), .memory = limits.memory};
  SKERRY_RETURN_IF_ERROR(Await(turn, stop));
  std::stop_source cancel;
  const auto forward = [&cancel] { cancel.request_stop(); };
  const std::stop_callback on_stop(stop, forward);
  const std::stop_callback on_end(ending_.get_token(), forward);
  policy::Budget budget(limits, cancel.get_token());
  auto risk = policy.Assess(core::NameOf(language), code, budget, references);
  Leave(turn, budget.spent());
  if (!risk) return std::unexpected(Cancelled(ending_));
  return *std::move(risk);
}

void Analyses::Charge(const AnalysisOwner& owner, std::uint64_t work) {
  const std::scoped_lock lock(mutex_);
  AccountOf(owner.token, options_.now()).left -= static_cast<double>(work);
}

void Analyses::Stop() {
  ending_.request_stop();
  const std::scoped_lock lock(mutex_);
  changed_.notify_all();
}

Analyses::Statistics Analyses::Now() const {
  const std::scoped_lock lock(mutex_);
  return {.under_way = under_way_, .waiting = queue_.size(), .memory = memory_};
}

base::Status Analyses::Await(Turn turn, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  ForgetIdle(options_.now());
  (void)company_.Note(turn.owner.tenant, options_.now());
  Account& account = AccountOf(turn.owner.token, options_.now());
  if (account.waiting >= options_.waiting || account.waiting_bytes + turn.bytes > options_.waiting_bytes)
    return base::Err(base::Code::kRateLimited, "too much code of this token waits to be assessed; try again later");
  const auto place = queue_.insert(queue_.end(), std::move(turn));
  ++account.waiting;
  account.waiting_bytes += place->bytes;
  const TimePoint patient_until = options_.now() + options_.patience;
  const auto decided = [&] { return place->begun || ending_.stop_requested(); };
  Grant();
  // Accounts earn work with time, without a notification: so each wait is short.
  while (!decided() && !stop.stop_requested() && options_.now() < patient_until)
    if (!changed_.wait_for(lock, stop, kBetweenLooks, decided)) Grant();
  const Turn waited = std::move(*place);
  queue_.erase(place);
  --account.waiting;
  account.waiting_bytes -= waited.bytes;
  const bool cancelled = stop.stop_requested() || ending_.stop_requested();
  if (waited.begun && !cancelled) return {};
  if (waited.begun) Settle(waited, 0);
  Grant();
  if (cancelled) return std::unexpected(Cancelled(ending_));
  return base::Err(base::Code::kRateLimited, "this token has asked for too much to be assessed; try again later");
}

// Begins the analyses whose turn has come.
void Analyses::Grant() {
  const TimePoint now = options_.now();
  bool any = false;
  for (auto next = Next(now); next != queue_.end(); next = Next(now)) {
    any = true;
    next->begun = true;
    ++AccountOf(next->owner.token, now).under_way;
    ++under_way_;
    memory_ += next->memory;
    UnderWay& tenant = tenants_[next->owner.tenant];
    ++tenant.count;
    tenant.memory += next->memory;
  }
  if (any) changed_.notify_all();
}

void Analyses::Leave(const Turn& turn, std::uint64_t work) {
  const std::scoped_lock lock(mutex_);
  Settle(turn, work);
  Grant();
}

void Analyses::Settle(const Turn& turn, std::uint64_t work) {
  Account& account = AccountOf(turn.owner.token, options_.now());
  account.left -= static_cast<double>(work);
  --account.under_way;
  --under_way_;
  memory_ -= turn.memory;
  const auto tenant = tenants_.find(turn.owner.tenant);
  tenant->second.memory -= turn.memory;
  if (--tenant->second.count == 0) tenants_.erase(tenant);
}

Analyses::Account& Analyses::AccountOf(const std::string& token, TimePoint now) {
  const auto most = static_cast<double>(options_.work_saved);
  Account& account = accounts_.try_emplace(token, Account{.left = most, .at = now}).first->second;
  const double earned = Seconds(now - account.at).count() * static_cast<double>(options_.work_per_second);
  account.left = std::min(most, account.left + std::max(0.0, earned));
  account.at = now;
  return account;
}

bool Analyses::MayBegin(const Turn& turn, TimePoint now) {
  const Account& account = AccountOf(turn.owner.token, now);
  if (account.under_way >= options_.at_once || account.left <= 0) return false;
  const auto tenant = tenants_.find(turn.owner.tenant);
  const UnderWay mine = tenant == tenants_.end() ? UnderWay() : tenant->second;
  if (turn.bytes >= kShort && mine.count >= options_.beside_others && company_.Has(turn.owner.tenant, now))
    return false;
  const bool tenant_has_room = mine.count == 0 || mine.memory + turn.memory <= options_.memory / kPartsOfATenant;
  const std::size_t kept = turn.bytes >= kLarge ? options_.memory / kPartsForSmall : 0;
  const bool has_room = under_way_ == 0 || memory_ + turn.memory + kept <= options_.memory;
  return tenant_has_room && has_room;
}

Analyses::Queue::iterator Analyses::Next(TimePoint now) {
  auto best = queue_.end();
  std::size_t least = 0;
  for (auto turn = queue_.begin(); turn != queue_.end(); ++turn) {
    if (turn->begun) continue;
    const auto tenant = tenants_.find(turn->owner.tenant);
    const std::size_t has = tenant == tenants_.end() ? 0 : tenant->second.memory;
    if ((best != queue_.end() && has >= least) || !MayBegin(*turn, now)) continue;
    best = turn;
    least = has;
  }
  return best;
}

std::chrono::seconds Analyses::RetryAfter(const std::string& token) {
  const std::scoped_lock lock(mutex_);
  const double debt = std::max(0.0, -AccountOf(token, options_.now()).left);
  return std::chrono::seconds(1 + std::lround(std::ceil(debt / static_cast<double>(options_.work_per_second))));
}

void Analyses::ForgetIdle(TimePoint now) {
  if (accounts_.size() <= kMostAccounts) return;
  std::erase_if(accounts_, [&](const auto& entry) {
    const Account& account = AccountOf(entry.first, now);
    const bool idle = account.under_way == 0 && account.waiting == 0;
    return idle && account.left >= static_cast<double>(options_.work_saved);
  });
}

}  // namespace skerry::engine
