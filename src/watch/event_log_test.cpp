#include "watch/event_log.hpp"

#include <atomic>
#include <condition_variable>
#include <map>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skerry::watch {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMuch = std::size_t{1} << 30U;

// Numbers begin at 1001.
EventLogOptions Options(std::size_t max_events = 1'000) {
  return {.max_events = max_events, .first = 1'000};
}

void Publish(EventLog& log, const std::string& type, const std::string& session = "s",
             const std::string& tenant = "t") {
  log.Publish({type, tenant, session}, Json::object());
}

std::vector<std::uint64_t> NumbersOf(const EventBatch& batch) {
  std::vector<std::uint64_t> numbers;
  for (const auto& event : batch.events) numbers.push_back(event->sequence);
  return numbers;
}

using Numbers = std::vector<std::uint64_t>;

TEST(EventLogTest, AnEventIsOneLineOfJsonWithTheCommonFieldsFirst) {
  EventLog log(Options());
  const auto reader = log.Open({}, std::nullopt, nullptr);
  log.Publish({"session.created", "t", "s1"}, {{"name", "two\nlines"}, {"count", 3}});
  const EventBatch batch = reader->Next(kMuch);
  ASSERT_EQ(batch.events.size(), 1U);
  const std::string& text = batch.events[0]->text;
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_TRUE(text.starts_with(R"({"sequence":1001,"type":"session.created","at":")")) << text;
  EXPECT_TRUE(text.ends_with(R"(,"session_id":"s1","name":"two\nlines","count":3})")) << text;
  EXPECT_TRUE(Json::accept(text));
}

TEST(EventLogTest, TextThatIsNoUtf8IsStillJson) {
  EventLog log(Options());
  const auto reader = log.Open({}, std::nullopt, nullptr);
  log.Publish({"a.b", "", ""}, {{"name", "\xff"}});
  const EventBatch batch = reader->Next(kMuch);
  ASSERT_EQ(batch.events.size(), 1U);
  EXPECT_TRUE(Json::accept(batch.events[0]->text)) << batch.events[0]->text;
  EXPECT_NE(batch.events[0]->text.find(R"("session_id":null)"), std::string::npos);
}

TEST(EventLogTest, NumbersBeginAtTheClockSoThatTheyGrowFromOneDaemonToTheNext) {
  const auto now = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
  const EventLog log;
  EXPECT_GE(log.last(), now);
  EXPECT_LT(log.last(), std::uint64_t{1} << 53U);
}

TEST(EventLogTest, AReaderGetsWhatComesAfterItCameInOrder) {
  EventLog log(Options());
  Publish(log, "a.b");
  const auto reader = log.Open({}, std::nullopt, nullptr);
  for (int count = 0; count < 3; ++count) Publish(log, "a.b");
  EXPECT_EQ(NumbersOf(reader->Next(kMuch)), (Numbers{1002, 1003, 1004}));
  EXPECT_TRUE(reader->Next(kMuch).events.empty());
}

TEST(EventLogTest, AReaderGoesOnBehindTheNumberItNames) {
  EventLog log(Options());
  for (int count = 0; count < 5; ++count) Publish(log, "a.b");
  const auto reader = log.Open({}, 1003, nullptr);
  const EventBatch batch = reader->Next(kMuch);
  EXPECT_FALSE(batch.gap);
  EXPECT_EQ(NumbersOf(batch), (Numbers{1004, 1005}));
}

TEST(EventLogTest, AReaderThatConnectsAgainMissesNothingAndGetsNothingTwice) {
  EventLog log(Options());
  auto reader = log.Open({}, std::nullopt, nullptr);
  for (int count = 0; count < 3; ++count) Publish(log, "a.b");
  EXPECT_EQ(NumbersOf(reader->Next(1)), (Numbers{1001}));
  const std::uint64_t at = reader->at();
  reader.reset();
  Publish(log, "a.b");
  reader = log.Open({}, at, nullptr);
  EXPECT_EQ(NumbersOf(reader->Next(kMuch)), (Numbers{1002, 1003, 1004}));
}

TEST(EventLogTest, WhatIsNoLongerThereIsToldAsAGapOnce) {
  EventLog log(Options(3));
  for (int count = 0; count < 10; ++count) Publish(log, "a.b");
  const auto reader = log.Open({}, 1002, nullptr);
  const EventBatch batch = reader->Next(kMuch);
  ASSERT_TRUE(batch.gap);
  EXPECT_EQ(batch.gap->from, 1003U);
  EXPECT_EQ(batch.gap->to, 1007U);
  EXPECT_EQ(NumbersOf(batch), (Numbers{1008, 1009, 1010}));
  EXPECT_FALSE(reader->Next(kMuch).gap);
}

TEST(EventLogTest, WhatADaemonBeforeHadIsAGap) {
  EventLog log(Options());
  const auto reader = log.Open({}, 900, nullptr);
  const EventBatch batch = reader->Next(kMuch);
  ASSERT_TRUE(batch.gap);
  EXPECT_EQ(batch.gap->from, 901U);
  EXPECT_EQ(batch.gap->to, 1000U);
  Publish(log, "a.b");
  EXPECT_EQ(NumbersOf(reader->Next(kMuch)), (Numbers{1001}));
}

TEST(EventLogTest, ANumberThatIsYetToComeIsAGapAndThenEverythingThatIsThere) {
  EventLog log(Options());
  Publish(log, "a.b");
  const auto reader = log.Open({}, 5'000, nullptr);
  const EventBatch batch = reader->Next(kMuch);
  EXPECT_TRUE(batch.gap);
  EXPECT_EQ(NumbersOf(batch), (Numbers{1001}));
}

TEST(EventLogTest, AFilterLetsThoseOfOneTenantSessionAndTypePass) {
  EventLog log(Options());
  const auto reader =
      log.Open({.tenant = "t", .session = "s", .types = {"approval.", "run.ended"}}, std::nullopt, nullptr);
  Publish(log, "approval.requested");                // 1001
  Publish(log, "approval.requested", "other");       // another session
  Publish(log, "approval.requested", "s", "other");  // another tenant
  Publish(log, "approval.requested", "s", "");       // the daemon's own
  Publish(log, "run.began");                         // another type
  Publish(log, "run.ended.late");                    // begins like the wanted type, but is another one
  Publish(log, "run.ended");                         // 1007
  EXPECT_EQ(NumbersOf(reader->Next(kMuch)), (Numbers{1001, 1007}));
}

TEST(EventLogTest, AReaderWithoutAFilterGetsEverybodys) {
  EventLog log(Options());
  const auto reader = log.Open({}, std::nullopt, nullptr);
  Publish(log, "a.b", "", "");
  Publish(log, "a.b", "s", "t");
  EXPECT_EQ(NumbersOf(reader->Next(kMuch)), (Numbers{1001, 1002}));
}

TEST(EventLogTest, ABatchHasAboutAsManyBytesAsWereAskedForAndAtLeastOneEvent) {
  EventLog log(Options());
  const auto reader = log.Open({}, std::nullopt, nullptr);
  for (int count = 0; count < 4; ++count) Publish(log, "a.b");
  const std::size_t each = log.Open({}, 1000, nullptr)->Next(kMuch).events[0]->text.size();
  EXPECT_EQ(NumbersOf(reader->Next(2 * each)), (Numbers{1001, 1002}));
  EXPECT_EQ(NumbersOf(reader->Next(0)), (Numbers{1003}));
  EXPECT_EQ(reader->at(), 1003U);
}

TEST(EventLogTest, AReaderWhoFallsBehindIsTold) {
  EventLog log(Options(3));
  const auto reader = log.Open({}, std::nullopt, nullptr);
  Publish(log, "a.b");
  EXPECT_EQ(reader->Next(kMuch).events.size(), 1U);
  for (int count = 0; count < 4; ++count) Publish(log, "a.b");
  const EventBatch batch = reader->Next(kMuch);
  EXPECT_TRUE(batch.too_slow);
  EXPECT_TRUE(batch.events.empty());
  EXPECT_EQ(reader->at(), 1001U) << "where to go on";
  EXPECT_TRUE(reader->Next(kMuch).too_slow) << "there is nothing more to be had";
  EXPECT_EQ(log.dropped(), 1U);
}

TEST(EventLogTest, AReaderWhoHasNotBegunHasAGapInsteadOfBeingTooSlow) {
  EventLog log(Options(3));
  const auto reader = log.Open({}, std::nullopt, nullptr);
  for (int count = 0; count < 5; ++count) Publish(log, "a.b");
  const EventBatch batch = reader->Next(kMuch);
  EXPECT_FALSE(batch.too_slow);
  ASSERT_TRUE(batch.gap);
  EXPECT_EQ(batch.gap->to, 1002U);
  EXPECT_EQ(log.dropped(), 0U);
}

TEST(EventLogTest, AnIdleReaderWithANarrowFilterIsNeverTooSlow) {
  EventLog log(Options(3));
  const auto reader = log.Open({.session = "mine"}, std::nullopt, nullptr);
  EXPECT_TRUE(reader->Next(kMuch).events.empty());
  for (int count = 0; count < 100; ++count) Publish(log, "a.b", "other");
  EXPECT_EQ(reader->at(), 1100U);
  Publish(log, "a.b", "mine");
  const EventBatch batch = reader->Next(kMuch);
  EXPECT_FALSE(batch.too_slow);
  EXPECT_EQ(NumbersOf(batch), (Numbers{1101}));
}

TEST(EventLogTest, AReaderIsWokenOnceAfterItHadNothing) {
  EventLog log(Options());
  int woken = 0;
  const auto reader = log.Open({.session = "mine"}, std::nullopt, [&] { ++woken; });
  Publish(log, "a.b", "mine");
  EXPECT_EQ(woken, 0) << "it has not asked yet";
  EXPECT_EQ(reader->Next(kMuch).events.size(), 1U);
  EXPECT_TRUE(reader->Next(kMuch).events.empty());
  Publish(log, "a.b", "other");
  EXPECT_EQ(woken, 0) << "not meant";
  Publish(log, "a.b", "mine");
  Publish(log, "a.b", "mine");
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(reader->Next(kMuch).events.size(), 2U);
}

TEST(EventLogTest, WakeMayReadAtOnce) {
  EventLog log(Options());
  std::unique_ptr<EventReader> reader;
  std::size_t got = 0;
  reader = log.Open({}, std::nullopt, [&] { got += reader->Next(kMuch).events.size(); });
  EXPECT_TRUE(reader->Next(kMuch).events.empty());
  Publish(log, "a.b");
  EXPECT_EQ(got, 1U);
}

TEST(EventLogTest, AReaderMayGoWhileItIsWoken) {
  EventLog log(Options());
  std::unique_ptr<EventReader> reader;
  auto alive = std::make_shared<int>(7);
  int seen = 0;
  reader = log.Open({}, std::nullopt, [&, alive] {
    reader.reset();
    seen = *alive;
  });
  EXPECT_TRUE(reader->Next(kMuch).events.empty());
  Publish(log, "a.b");
  EXPECT_EQ(seen, 7);
  EXPECT_EQ(log.readers(), 0U);
}

TEST(EventLogTest, TheRingHoldsNoMoreBytesThanItMay) {
  EventLog log({.max_events = 1'000, .max_bytes = 1'000, .first = 1'000});
  for (int count = 0; count < 50; ++count) Publish(log, "a.b");
  const EventBatch batch = log.Open({}, 1'000, nullptr)->Next(kMuch);
  std::size_t bytes = 0;
  for (const auto& event : batch.events) bytes += event->text.size();
  EXPECT_LE(bytes, 1'000U);
  EXPECT_GT(bytes + batch.events.front()->text.size(), 1'000U) << "as many as fit";
  ASSERT_TRUE(batch.gap);
  EXPECT_EQ(batch.gap->to + 1, batch.events.front()->sequence);
}

TEST(EventLogTest, OneEventThatIsLargerThanTheRingIsDelivered) {
  EventLog log({.max_events = 1'000, .max_bytes = 1'000, .first = 1'000});
  const auto reader = log.Open({}, std::nullopt, nullptr);
  EXPECT_TRUE(reader->Next(kMuch).events.empty());
  log.Publish({"a.b", "", ""}, {{"large", std::string(5'000, 'x')}});
  EXPECT_EQ(NumbersOf(reader->Next(1)), (Numbers{1001}));
  Publish(log, "a.b");
  EXPECT_EQ(NumbersOf(reader->Next(1)), (Numbers{1002}));
}

TEST(EventLogTest, ReadersAreCounted) {
  EventLog log(Options());
  auto first = log.Open({}, std::nullopt, nullptr);
  const auto second = log.Open({}, std::nullopt, nullptr);
  EXPECT_EQ(log.readers(), 2U);
  first.reset();
  EXPECT_EQ(log.readers(), 1U);
}

// Reads until the wanted number of events has come, and sleeps until it is woken when there is none.
class Follower {
 public:
  Follower(EventLog& log, std::size_t wanted) : wanted_(wanted) {
    reader_ = log.Open({}, std::nullopt, [this] {
      const std::lock_guard lock(mutex_);
      woken_ = true;
      changed_.notify_one();
    });
  }

  void Follow() {
    while (got_ < wanted_ && wrong_.empty()) {
      const EventBatch batch = reader_->Next(std::size_t{48} << 10U);
      if (batch.too_slow || batch.gap) wrong_ = "lost some";
      for (const auto& event : batch.events) Check(*event);
      if (!batch.events.empty() || !wrong_.empty()) continue;
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return woken_; });
      woken_ = false;
    }
  }

  [[nodiscard]] const std::string& wrong() const { return wrong_; }

 private:
  // The events must be in the order of all events, and in the order of each publishing thread.
  void Check(const Event& event) {
    ++got_;
    if (last_ != 0 && event.sequence != last_ + 1) wrong_ = "not in order: " + event.text;
    last_ = event.sequence;
    const int number = std::stoi(event.tenant);
    if (number != by_publisher_[event.session]++) wrong_ = "not in its publisher's order: " + event.text;
  }

  std::size_t wanted_;
  std::size_t got_ = 0;
  std::uint64_t last_ = 0;
  std::map<std::string, int> by_publisher_;
  std::string wrong_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  std::unique_ptr<EventReader> reader_;
};

TEST(EventLogTest, AHundredReadersGetTenThousandEventsOfFourThreadsInOrder) {
  constexpr int kReaders = 100;
  constexpr int kPublishers = 4;
  constexpr int kEach = 2'500;
  EventLog log;
  std::vector<std::unique_ptr<Follower>> followers;
  for (int index = 0; index < kReaders; ++index)
    followers.push_back(std::make_unique<Follower>(log, std::size_t{kPublishers} * kEach));
  std::vector<std::jthread> threads;
  for (const auto& follower : followers) threads.emplace_back([&follower] { follower->Follow(); });
  for (int publisher = 0; publisher < kPublishers; ++publisher)
    threads.emplace_back([&log, publisher] {
      for (int count = 0; count < kEach; ++count)
        log.Publish({"a.b", std::to_string(count), std::to_string(publisher)}, Json::object());
    });
  threads.clear();
  for (const auto& follower : followers) EXPECT_EQ(follower->wrong(), "");
  EXPECT_EQ(log.dropped(), 0U);
}

}  // namespace
}  // namespace skerry::watch
