// Many threads do anything to a few sessions, in an order that a seed decides, while a model that knows only the rules
// watches. SKERRY_POOL_SEED repeats a run, as far as threads can be repeated.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "engine/pool.hpp"

namespace skerry::engine {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr int kThreads = 8;
constexpr int kSteps = 5000;
constexpr int kClockSpeed = 100;  // so that backing off and idling happen within a test

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t Below(std::uint64_t limit) { return engine_() % limit; }
  bool Percent(std::uint64_t chance) { return Below(100) < chance; }
  void Dawdle() {
    if (Percent(50)) return std::this_thread::yield();
    std::this_thread::sleep_for(microseconds(Below(200)));
  }

 private:
  std::mt19937_64 engine_;
};

constexpr std::uint64_t kArrival = 1ULL << 32U;

// What the rules allow for a session. Fields that are not atomic belong to the holder of the lease: the pool promises
// that a thread sees what the holder before it wrote, and the thread sanitizer checks that.
struct Session {
  std::string name;
  std::atomic<int> users = 0;
  std::atomic<int> makers = 0;
  std::atomic<std::uint64_t> visits = 0;  // kArrival for every call, and one while it or its lease goes on
  std::atomic<std::uint64_t> forgets_begun = 0;
  std::atomic<std::uint64_t> forgets_ended = 0;
  int expected_box = 0;               // the instance that the next lease must have; 0 for any
  std::uint64_t expected_unless = 0;  // ... unless more calls to forget the session have begun
};

struct World {
  World(PoolOptions pool_options, std::size_t session_count) : options(pool_options), sessions(session_count) {
    for (std::size_t i = 0; i < session_count; ++i) sessions[i].name = "s" + std::to_string(i);
  }

  void Demand(bool holds, const std::string& rule) {
    if (holds) return;
    const std::scoped_lock lock(mutex);
    if (violations.size() < 5) violations.push_back(rule);
  }

  [[nodiscard]] bool KeepsIdle() const { return options.idle_timeout > std::chrono::hours(1); }

  const PoolOptions options;
  std::uint64_t seed = 0;
  std::vector<Session> sessions;
  std::atomic<std::uint64_t> attempts = 0;
  std::atomic<std::size_t> live = 0;  // made, being made or being destroyed
  std::atomic<int> numbers = 0;
  std::atomic<std::uint64_t> made = 0;
  std::atomic<std::uint64_t> failed = 0;
  std::atomic<std::uint64_t> ended = 0;
  std::atomic<std::uint64_t> kept = 0;  // leases with the expected instance
  std::atomic<int> failure_percent = 10;
  std::mutex mutex;
  std::vector<std::string> violations;
};

struct Box {
  explicit Box(World& of) : world(of), number(++world.numbers) {}
  Box(const Box&) = delete;
  Box& operator=(const Box&) = delete;
  ~Box() {
    world.Demand(users == 0, "what is in use is not destroyed");
    if (number % 3 == 0) std::this_thread::sleep_for(microseconds(100));
    ++world.ended;
    --world.live;
  }

  World& world;
  const int number;
  std::atomic<int> users = 0;
  std::atomic<bool> broken = false;
  const Session* owner = nullptr;
  std::uint64_t uses = 0;
};
using BoxPool = Pool<Box>;

// The session that this thread acquires for, which `make` is not told.
thread_local Session* acquiring_for = nullptr;

base::Result<std::unique_ptr<Box>> MakeBox(World& world) {
  Dice dice(world.seed + kThreads + ++world.attempts);
  world.Demand(++world.live <= world.options.max_instances, "the capacity is never exceeded");
  Session* const session = acquiring_for;
  if (session != nullptr) world.Demand(++session->makers == 1, "one instance is made for a session at a time");
  dice.Dawdle();
  if (session != nullptr) --session->makers;
  if (dice.Percent(static_cast<std::uint64_t>(world.failure_percent.load()))) {
    ++world.failed;
    --world.live;
    return base::Err(base::Code::kExecutionFailed, "no wood");
  }
  ++world.made;
  auto box = std::make_unique<Box>(world);
  box->broken = world.failure_percent > 0 && dice.Percent(5);
  return box;
}

// The actions of one thread.
class Player {
 public:
  Player(World& world, BoxPool& pool, std::uint64_t seed) : world_(world), pool_(pool), dice_(seed) {}

  void Play() {
    for (int step = 0; step < kSteps; ++step) {
      Session& session = world_.sessions[dice_.Below(world_.sessions.size())];
      const auto what = dice_.Below(100);
      if (what < 50) {
        Acquire(session);
      } else if (what < 80) {
        TryAcquireWarm(session);
      } else if (what < 92) {
        Forget(session);
      } else if (what < 99) {
        CheckStatistics();
      } else {
        pool_.AwaitWarm(base::Deadline::After(milliseconds(2)));
      }
    }
  }

 private:
  void Acquire(Session& session) {
    const auto visits = session.visits.fetch_add(kArrival + 1);
    const auto forgets = Forgets(session);
    acquiring_for = &session;
    auto lease = pool_.Acquire(session.name);
    acquiring_for = nullptr;
    if (lease) {
      Use(session, *lease, forgets);
    } else {
      const auto code = lease.error().code;
      const bool was_alone = visits % kArrival == 0 && session.visits / kArrival == visits / kArrival + 1;
      world_.Demand(code != base::Code::kConflict || !was_alone, "a conflict needs two");
      const bool may_be_full = world_.sessions.size() > world_.options.max_instances;
      world_.Demand(code != base::Code::kUnavailable || may_be_full, "there is room for every session");
      world_.Demand(code != base::Code::kInternal, lease.error().message);
    }
    --session.visits;
  }

  void TryAcquireWarm(Session& session) {
    session.visits += kArrival + 1;
    const auto forgets = Forgets(session);
    if (auto lease = pool_.TryAcquireWarm(session.name)) Use(session, *lease, forgets);
    --session.visits;
  }

  void Forget(Session& session) {
    session.visits += kArrival + 1;
    ++session.forgets_begun;
    pool_.Forget(session.name);
    ++session.forgets_ended;
    --session.visits;
  }

  // The number of calls to forget the session, or nothing while one goes on.
  static std::optional<std::uint64_t> Forgets(const Session& session) {
    const std::uint64_t ended = session.forgets_ended;
    if (session.forgets_begun != ended) return std::nullopt;
    return ended;
  }

  // `forgets` as it was before the lease was asked for.
  void Use(Session& session, BoxPool::Lease& lease, std::optional<std::uint64_t> forgets) {
    Box& box = *lease;
    world_.Demand(++session.users == 1, "a session has one user");
    world_.Demand(++box.users == 1, "an instance has one user");
    world_.Demand(box.owner == nullptr || box.owner == &session, "an instance is seen by one session");
    box.owner = &session;
    world_.Demand(++box.uses <= world_.options.max_use_count, "a worn instance is not used");
    if (session.expected_box != 0 && session.expected_unless == session.forgets_begun) {
      world_.Demand(box.number == session.expected_box, "a session keeps its instance");
      ++world_.kept;
    }
    dice_.Dawdle();
    if (dice_.Percent(5)) box.broken = true;
    const bool is_kept = forgets.has_value() && !box.broken && box.uses < world_.options.max_use_count;
    const auto how = dice_.Below(3);
    session.expected_box = is_kept && how != 0 && world_.KeepsIdle() ? box.number : 0;
    session.expected_unless = forgets.value_or(0);
    --box.users;
    --session.users;
    if (how == 0) return lease.Discard();
    if (how == 1) return lease.Release();
    const auto moved = std::move(lease);
  }

  void CheckStatistics() {
    const auto now = pool_.Statistics();
    world_.Demand(now.total <= now.max, "the total is at most the maximum");
    world_.Demand(now.total == now.busy + now.idle + now.acquiring + now.ending, "the statistics add up");
    world_.Demand(now.warm <= now.idle, "what is warm is idle");
    world_.Demand(now.created - now.destroyed <= now.total, "what lives is counted");
  }

  World& world_;
  BoxPool& pool_;
  Dice dice_;
};

std::uint64_t Seed() {
  const char* const chosen = std::getenv("SKERRY_POOL_SEED");  // NOLINT(concurrency-mt-unsafe): nobody sets any
  return chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : std::random_device{}();
}

struct Scenario {
  std::string name;
  std::size_t sessions;
  PoolOptions options;
};
void PrintTo(const Scenario& scenario, std::ostream* out) {
  *out << scenario.name;
}

class PoolConcurrencyTest : public testing::TestWithParam<Scenario> {
 protected:
  BoxPool::Hooks Hooks() {
    return {.make = [this] { return MakeBox(world_); },
            .usable = [](const Box& box) { return !box.broken; },
            .now =
                [] {
                  const auto now = std::chrono::steady_clock::now();
                  static const auto start = now;
                  return BoxPool::TimePoint((now - start) * kClockSpeed);
                }};
  }

  void PlayAll(BoxPool& pool) {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (std::uint64_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([this, &pool, i] { Player(world_, pool, world_.seed + i).Play(); });
    }
  }

  static PoolStatistics AwaitQuiet(const BoxPool& pool) {
    const auto deadline = base::Deadline::After(std::chrono::seconds(20));
    auto now = pool.Statistics();
    while ((now.acquiring + now.ending > 0 || now.warm == 0) && !deadline.Expired()) {
      std::this_thread::sleep_for(milliseconds(1));
      now = pool.Statistics();
    }
    return now;
  }

  // Whatever happened before, every place of the pool can be used.
  void FillToTheBrim(BoxPool& pool) {
    std::vector<BoxPool::Lease> leases;
    for (std::size_t i = 0; i < world_.options.max_instances; ++i) {
      auto lease = pool.Acquire("late " + std::to_string(i));
      ASSERT_TRUE(lease.has_value()) << lease.error().message;
      leases.push_back(std::move(*lease));
    }
    EXPECT_EQ(pool.Acquire("too late").error().code, base::Code::kUnavailable);
  }

  World world_{GetParam().options, GetParam().sessions};
};

TEST_P(PoolConcurrencyTest, TheRulesHoldWhateverHappens) {
  world_.seed = Seed();
  std::cout << "SKERRY_POOL_SEED=" << world_.seed << "\n";
  {
    BoxPool pool(world_.options, Hooks());
    PlayAll(pool);
    world_.failure_percent = 0;
    for (const auto& session : world_.sessions) pool.Forget(session.name);
    const auto quiet = AwaitQuiet(pool);
    EXPECT_EQ(quiet.busy + quiet.acquiring + quiet.ending, 0U);
    EXPECT_EQ(quiet.total, quiet.warm);
    FillToTheBrim(pool);
    const auto last = pool.Statistics();
    EXPECT_EQ(last.total, world_.live);
    EXPECT_EQ(last.created, world_.made);
    EXPECT_EQ(last.failures, world_.failed);
    EXPECT_GT(last.warm_hits, 0U);
    EXPECT_GT(last.misses, 0U);
    EXPECT_EQ(world_.kept > 0, world_.KeepsIdle());
  }
  EXPECT_EQ(world_.live, 0U);
  EXPECT_EQ(world_.made, world_.ended);
  for (const auto& rule : world_.violations) ADD_FAILURE() << rule;
}

constexpr milliseconds kLong{1'000'000'000};
constexpr milliseconds kPatient{60'000};

INSTANTIATE_TEST_SUITE_P(Pools, PoolConcurrencyTest,
                         testing::Values(Scenario{"RoomForAll",
                                                  6,
                                                  {.max_instances = 6,
                                                   .min_instances = 2,
                                                   .idle_timeout = kLong,
                                                   .max_use_count = 5,
                                                   .cleanup_interval = milliseconds(1),
                                                   .room_timeout = kPatient}},
                                         Scenario{"TooFewPlaces",
                                                  12,
                                                  {.max_instances = 4,
                                                   .min_instances = 3,
                                                   .idle_timeout = kLong,
                                                   .max_use_count = 20,
                                                   .cleanup_interval = milliseconds(1),
                                                   .room_timeout = kPatient}},
                                         Scenario{"ShortLived",
                                                  9,
                                                  {.max_instances = 5,
                                                   .min_instances = 2,
                                                   .idle_timeout = milliseconds(50),
                                                   .max_use_count = 100,
                                                   .cleanup_interval = milliseconds(1),
                                                   .room_timeout = kPatient}}),
                         [](const auto& scenario) { return scenario.param.name; });

}  // namespace
}  // namespace skerry::engine
