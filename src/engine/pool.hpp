// Pool: instances that are made before a session asks for one (S6). Generic over the type of instance.
//
//  - An instance that a session has had is never handed to another one: it is destroyed, and a new one is made.
//  - A session has at most one instance, and one user of it at a time.
//  - Instances that live, are being made or are being destroyed never exceed `max_instances`.
//  - One thread of the pool's own keeps the stock, takes back what is idle and destroys. Giving back never waits for a
//    destruction; Acquire does only when the pool is full and room is about to be there.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/deadline.hpp"
#include "base/printable.hpp"
#include "base/result.hpp"

namespace skerry::engine {

struct PoolOptions {
  std::size_t max_instances = 10;
  std::size_t min_instances = 2;  // kept warm, as far as max_instances leaves room
  std::chrono::milliseconds idle_timeout{300'000};
  std::uint64_t max_use_count = 100;
  std::chrono::milliseconds cleanup_interval{60'000};
  // How long Acquire waits in a full pool for a destruction or a creation that is under way; zero: not at all.
  std::chrono::milliseconds room_timeout{2'000};
  // How long the stock waits before it replaces an instance, so as not to compete with the program that took it.
  std::chrono::milliseconds stock_delay{0};
};

struct PoolStatistics {
  std::size_t total = 0;      // all that counts against `max`: busy + idle + acquiring + ending
  std::size_t busy = 0;       // leased
  std::size_t idle = 0;       // waiting for their session, or warm
  std::size_t acquiring = 0;  // being made or looked at, for a session or for the stock
  std::size_t ending = 0;     // given up and not destroyed yet
  std::size_t warm = 0;       // idle and without a session
  std::size_t max = 0;
  std::uint64_t created = 0;
  std::uint64_t destroyed = 0;
  std::uint64_t warm_hits = 0;  // acquisitions that a warm one served at once
  std::uint64_t misses = 0;     // acquisitions that needed a warm one when none was there
  std::uint64_t failures = 0;   // creations that failed
};

// Thread-safe. Hooks are called without any lock of the pool's, by several threads at once.
template <class Instance>
class Pool {
  enum class State { kIdle, kAcquiring, kBusy };
  struct Slot;

 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  struct Hooks {
    std::function<base::Result<std::unique_ptr<Instance>>()> make;
    std::function<bool(const Instance&)> usable;  // asked before and after each use; empty: always
    std::function<TimePoint()> now;               // empty: the steady clock
  };

  // The use of an instance. Must end before the pool does.
  class Lease {
   public:
    Lease(Lease&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), slot_(other.slot_) {}
    Lease& operator=(Lease&& other) noexcept {
      if (this == &other) return *this;
      Release();
      pool_ = std::exchange(other.pool_, nullptr);
      slot_ = other.slot_;
      return *this;
    }
    ~Lease() { Release(); }

    Instance& operator*() const { return *slot_->instance; }
    Instance* operator->() const { return slot_->instance.get(); }

    // The session keeps the instance, unless it is worn, unusable or the session was forgotten. Ends the lease, as does
    // Discard; a second call does nothing.
    void Release() {
      if (Pool* pool = std::exchange(pool_, nullptr)) pool->GiveBack(*slot_);
    }
    // The instance is never used again.
    void Discard() {
      if (Pool* pool = std::exchange(pool_, nullptr)) pool->GiveUp(*slot_);
    }

   private:
    friend Pool;
    Lease(Pool* pool, Slot* slot) : pool_(pool), slot_(slot) {}

    Pool* pool_;
    Slot* slot_;
  };

  Pool(PoolOptions options, Hooks hooks)
      : options_(options), hooks_(std::move(hooks)), keeper_([this] {
          while (Keep()) {
          }
        }) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  // No lease and no call may be left. Returns when every instance is destroyed.
  ~Pool() {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
    }
    work_.notify_all();
    keeper_.join();
  }

  // The session's own instance, else a warm one, else one that the calling thread makes. kConflict when the session is
  // in use, being acquired, or was forgotten meanwhile; kUnavailable when the pool is full; else the error of `make`.
  base::Result<Lease> Acquire(const std::string& session) {
    const TimePoint now = Now();
    std::unique_lock lock(mutex_);
    Slot* const slot = Claim(session);
    if (slot == nullptr) return Err(base::Code::kConflict, session, "is in use; wait until its present use has ended");
    if (!TakeReady(lock, *slot)) {
      ++counters_.misses;
      if (auto status = Obtain(lock, *slot, now); !status) {
        Unbind(*slot);
        work_.notify_one();  // the room that this acquisition had asked for may serve the stock
        return std::unexpected(std::move(status).error());
      }
    } else if (slot->uses == 0) {
      ++counters_.warm_hits;
    }
    if (auto lease = Hand(*slot, now)) return std::move(*lease);
    return Err(base::Code::kConflict, session, "was ended while it was being acquired");
  }

  // Like Acquire when an instance is ready right now, else nothing. Never makes one and never waits for one.
  std::optional<Lease> TryAcquireWarm(const std::string& session) {
    const TimePoint now = Now();
    std::unique_lock lock(mutex_);
    Slot* const slot = Claim(session);
    if (slot == nullptr) return std::nullopt;
    if (!TakeReady(lock, *slot)) {
      ++counters_.misses;
      Unbind(*slot);
      return std::nullopt;
    }
    if (slot->uses == 0) ++counters_.warm_hits;
    return Hand(*slot, now);
  }

  // The session's instance is destroyed; one that is in use, when its lease ends. Until then the session stays busy.
  void Forget(const std::string& session) {
    const std::scoped_lock lock(mutex_);
    const auto found = sessions_.find(session);
    if (found == sessions_.end()) return;
    if (found->second.state == State::kIdle) return Finish(found->second);
    found->second.forgotten = true;
    changed_.notify_all();
  }

  // Until min_instances are warm, or the sessions leave no room for more, or the stock's last creation failed.
  void AwaitWarm(base::Deadline deadline) {
    std::unique_lock lock(mutex_);
    while (!StockIsSettled() && !deadline.Expired()) changed_.wait_for(lock, WaitFor(deadline));
  }

  [[nodiscard]] PoolStatistics Statistics() const {
    const std::scoped_lock lock(mutex_);
    PoolStatistics statistics = counters_;
    statistics.max = options_.max_instances;
    statistics.warm = warm_.size();
    statistics.idle = warm_.size();
    for (const auto& [session, slot] : sessions_) {
      statistics.busy += slot.state == State::kBusy ? 1 : 0;
      statistics.idle += slot.state == State::kIdle ? 1 : 0;
    }
    statistics.acquiring = statistics.total - statistics.busy - statistics.idle - statistics.ending;
    return statistics;
  }

 private:
  // A session's place. Idle and busy slots have an instance; only the thread that made a slot acquiring or busy touches
  // it then.
  struct Slot {
    const std::string* session = nullptr;  // the key that it is found by
    State state = State::kAcquiring;
    std::unique_ptr<Instance> instance;
    std::uint64_t uses = 0;
    TimePoint idle_since;
    bool forgotten = false;
  };
  struct Warm {
    std::unique_ptr<Instance> instance;
    TimePoint idle_since;
  };
  using Lock = std::unique_lock<std::mutex>;
  using Milliseconds = std::chrono::milliseconds;

  static constexpr Milliseconds kFirstBackoff{100};
  static constexpr Milliseconds kLongestBackoff{10'000};

  static std::unexpected<base::Error> Err(base::Code code, const std::string& session, const std::string& what) {
    return base::Err(code, "session " + base::Printable(base::Excerpt(session)) + " " + what);
  }
  // Waits of centuries overflow.
  static Milliseconds AtMostAnHour(Milliseconds wait) { return std::min<Milliseconds>(wait, std::chrono::hours(1)); }
  static Milliseconds WaitFor(base::Deadline deadline) {
    return AtMostAnHour(std::chrono::ceil<Milliseconds>(deadline.Remaining()));
  }
  [[nodiscard]] TimePoint Now() const { return hooks_.now ? hooks_.now() : std::chrono::steady_clock::now(); }
  [[nodiscard]] bool IsUsable(const Instance& instance) const { return !hooks_.usable || hooks_.usable(instance); }
  [[nodiscard]] bool IsExpired(TimePoint since, TimePoint now) const {
    return std::chrono::duration_cast<Milliseconds>(now - since) >= options_.idle_timeout;
  }

  // The session's slot, now acquiring; nullptr when it is in use already.
  Slot* Claim(const std::string& session) {
    const auto [entry, is_new] = sessions_.try_emplace(session);
    Slot& slot = entry->second;
    if (!is_new && slot.state != State::kIdle) return nullptr;
    slot.session = &entry->first;
    slot.state = State::kAcquiring;
    return &slot;
  }

  // Puts a usable instance into the slot: its own, else a warm one. The oldest first, so that none grows old unseen.
  bool TakeReady(Lock& lock, Slot& slot) {
    for (;;) {
      if (!slot.instance) {
        if (warm_.empty()) return false;
        slot.instance = std::move(warm_.front().instance);
        warm_.pop_front();
      }
      if (!hooks_.usable) return true;
      lock.unlock();
      const bool usable = IsUsable(*slot.instance);
      lock.lock();
      if (usable) return true;
      End(std::move(slot.instance));
      slot.uses = 0;
    }
  }

  // For a slot that found nothing ready: makes an instance, or waits for room or a warm one in a full pool.
  base::Status Obtain(Lock& lock, Slot& slot, TimePoint now) {
    const auto deadline = base::Deadline::After(AtMostAnHour(options_.room_timeout));
    while (!slot.forgotten) {
      if (counters_.total < options_.max_instances) {
        SKERRY_ASSIGN_OR_RETURN(slot.instance, Make(lock));
        return {};
      }
      if (!AwaitRoom(lock, now, deadline)) {
        return base::Err(base::Code::kUnavailable,
                         "all " + std::to_string(options_.max_instances) +
                             " places of the pool are taken; end a session, try again later, or raise max_instances");
      }
      if (TakeReady(lock, slot)) return {};
    }
    return Err(base::Code::kConflict, *slot.session, "was ended while it was being acquired");
  }

  // The instance counts against the capacity from before it is made, and no longer when making it fails.
  base::Result<std::unique_ptr<Instance>> Make(Lock& lock) {
    ++counters_.total;
    lock.unlock();
    auto made = hooks_.make();
    lock.lock();
    if (made && *made == nullptr) made = base::Err(base::Code::kInternal, "the pool was given no instance");
    if (made) {
      ++counters_.created;
    } else {
      --counters_.total;
      ++counters_.failures;
    }
    changed_.notify_all();
    return made;
  }

  // In a full pool: takes back an expired instance, then waits for a change. Tells whether to look again.
  bool AwaitRoom(Lock& lock, TimePoint now, base::Deadline deadline) {
    if (counters_.ending == 0) ReclaimLongestIdle(now);
    if ((counters_.ending == 0 && !stocking_) || deadline.Expired()) return false;
    ++awaiting_room_;
    changed_.wait_for(lock, WaitFor(deadline));
    --awaiting_room_;
    return true;
  }

  void ReclaimLongestIdle(TimePoint now) {
    Slot* longest = nullptr;
    for (auto& [session, slot] : sessions_) {
      if (slot.state != State::kIdle || !IsExpired(slot.idle_since, now)) continue;
      if (longest == nullptr || slot.idle_since < longest->idle_since) longest = &slot;
    }
    if (longest != nullptr) Finish(*longest);
  }

  // Hands the slot to the user; nothing when the session was forgotten meanwhile: an instance that it never used goes
  // to the stock.
  std::optional<Lease> Hand(Slot& slot, TimePoint now) {
    if (StockIsShort()) {
      stock_not_before_ = std::max(stock_not_before_, now + options_.stock_delay);
      work_.notify_one();
    }
    if (!slot.forgotten) {
      slot.state = State::kBusy;
      ++slot.uses;
      return Lease(this, &slot);
    }
    if (slot.uses > 0) {
      Finish(slot);
    } else {
      warm_.push_back({std::move(slot.instance), now});
      Unbind(slot);
      changed_.notify_all();
    }
    return std::nullopt;
  }

  void GiveBack(Slot& slot) {
    const TimePoint now = Now();
    const bool usable = IsUsable(*slot.instance);
    const std::scoped_lock lock(mutex_);
    if (!usable || slot.forgotten || slot.uses >= options_.max_use_count) return Finish(slot);
    slot.state = State::kIdle;
    slot.idle_since = now;
  }

  void GiveUp(Slot& slot) {
    const std::scoped_lock lock(mutex_);
    Finish(slot);
  }

  void Finish(Slot& slot) {
    End(std::move(slot.instance));
    Unbind(slot);
  }
  void Unbind(Slot& slot) { sessions_.erase(sessions_.find(*slot.session)); }
  void End(std::unique_ptr<Instance> instance) {
    ending_.push_back(std::move(instance));
    ++counters_.ending;
    work_.notify_one();
  }

  // A round of the pool's thread; false after the last.
  bool Keep() {
    const TimePoint now = Now();
    Lock lock(mutex_);
    if (stopping_) EndAll();
    if (now >= next_cleanup_) Cleanup(now);
    // Both in turn: neither a rush of destructions nor one of creations holds up the other.
    const bool destroyed = DestroyEnding(lock);
    if (stopping_) return !ending_.empty() || !warm_.empty() || !sessions_.empty();
    const bool stocked = Stock(lock, now);
    if (!destroyed && !stocked) work_.wait_for(lock, UntilNextWork(now));
    return true;
  }

  void EndAll() {
    for (auto& warm : warm_) End(std::move(warm.instance));
    warm_.clear();
    while (!sessions_.empty()) Finish(sessions_.begin()->second);
  }

  void Cleanup(TimePoint now) {
    next_cleanup_ = now + AtMostAnHour(options_.cleanup_interval);
    for (auto entry = sessions_.begin(); entry != sessions_.end();) {
      Slot& slot = (entry++)->second;
      if (slot.state == State::kIdle && IsExpired(slot.idle_since, now)) Finish(slot);
    }
    while (warm_.size() > options_.min_instances && IsExpired(warm_.front().idle_since, now)) {
      End(std::move(warm_.front().instance));
      warm_.pop_front();
    }
  }

  bool DestroyEnding(Lock& lock) {
    if (ending_.empty()) return false;
    auto instances = std::exchange(ending_, {});
    for (auto& instance : instances) {
      lock.unlock();
      instance.reset();
      lock.lock();
      ++counters_.destroyed;
      --counters_.ending;
      --counters_.total;
      changed_.notify_all();
    }
    return true;
  }

  bool Stock(Lock& lock, TimePoint now) {
    if (!StockIsShort() || now < stock_not_before_) return false;
    stocking_ = true;
    auto made = Make(lock);
    lock.unlock();
    const TimePoint ended = Now();  // it may have taken long
    lock.lock();
    stocking_ = false;
    if (made) {
      warm_.push_back({std::move(*made), ended});
      backoff_ = Milliseconds::zero();
    } else {
      backoff_ = std::clamp(backoff_ * 2, kFirstBackoff, kLongestBackoff);
      stock_not_before_ = ended + backoff_;
    }
    changed_.notify_all();
    return true;
  }

  // Leaves alone the room that acquisitions wait for.
  [[nodiscard]] bool StockIsShort() const {
    return warm_.size() < options_.min_instances && counters_.total + awaiting_room_ < options_.max_instances;
  }
  [[nodiscard]] bool StockIsSettled() const {
    if (warm_.size() >= options_.min_instances || backoff_ > Milliseconds::zero()) return true;
    return !stocking_ && counters_.total - counters_.ending >= options_.max_instances;
  }

  [[nodiscard]] Milliseconds UntilNextWork(TimePoint now) const {
    auto wait = AtMostAnHour(options_.cleanup_interval);
    if (stock_not_before_ > now) wait = std::min(wait, std::chrono::ceil<Milliseconds>(stock_not_before_ - now));
    return std::max(wait, Milliseconds(1));
  }

  const PoolOptions options_;
  const Hooks hooks_;
  mutable std::mutex mutex_;
  std::condition_variable work_;     // for the pool's thread
  std::condition_variable changed_;  // for all other threads
  std::unordered_map<std::string, Slot> sessions_;
  std::deque<Warm> warm_;
  std::vector<std::unique_ptr<Instance>> ending_;
  PoolStatistics counters_;        // only total, ending, and the counts since the start
  std::size_t awaiting_room_ = 0;  // acquisitions
  bool stocking_ = false;          // the pool's thread is making one
  bool stopping_ = false;
  Milliseconds backoff_{0};
  TimePoint stock_not_before_{};
  TimePoint next_cleanup_ = Now() + AtMostAnHour(options_.cleanup_interval);
  std::thread keeper_;
};

}  // namespace skerry::engine
