#include "engine/views/history_pages.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace skerry::engine {
namespace {

using core::ExecutionRecord;
using core::HistoryEntry;

// Has only what a history reads; every execution is of one session.
class FakeRecordStore : public core::RecordStore {
 public:
  // An execution's number is its place.
  void Add(const std::string& what, const std::vector<std::string>& files) {
    HistoryEntry entry;
    entry.execution = {.id = "e" + std::to_string(entries.size() + 1),
                       .sequence = entries.size() + 1,
                       .what = what,
                       .what_bytes = what.size()};
    for (const std::string& file : files) entry.changes.push_back({.path = file});
    entry.changes_total = entry.changes.size();
    entries.push_back(std::move(entry));
  }

  base::Result<std::vector<ExecutionRecord>> Executions(const std::string&, std::uint64_t after,
                                                        std::size_t limit) override {
    most_at_once = std::max(most_at_once, limit);
    std::vector<ExecutionRecord> page;
    for (const HistoryEntry& entry : entries)
      if (entry.execution.sequence > after && page.size() < limit) page.push_back(entry.execution);
    return page;
  }
  base::Result<ExecutionRecord> FindExecution(const std::string& id) override { return Find(id).execution; }
  base::Result<core::ChangesPage> PageOfChanges(const std::string& execution, std::uint64_t,
                                                std::size_t limit) override {
    SKERRY_ASSIGN_OR_RETURN(auto changes, ChangesOf(execution));
    core::ChangesPage page{.next = changes.size() > limit ? limit : 0};
    changes.resize(std::min(changes.size(), limit));
    page.changes = std::move(changes);
    return page;
  }
  base::Result<core::NoticesPage> PageOfNotices(const std::string&, core::FileNotice::About, std::uint64_t,
                                                std::size_t) override {
    return core::NoticesPage();
  }
  base::Result<std::uint64_t> CountChanges(const std::string& execution) override {
    SKERRY_ASSIGN_OR_RETURN(const auto changes, ChangesOf(execution));
    return changes.size();
  }
  base::Result<std::uint64_t> LeftOut(const std::string&) override { return 0; }
  base::Result<std::map<std::string, std::uint64_t>> BytesByTenant() override {
    return std::map<std::string, std::uint64_t>();
  }
  base::Result<std::uint64_t> ForgetDeleted(const std::string&, std::uint64_t) override { return 0; }
  base::Result<std::vector<core::FileChange>> ChangesOf(const std::string& id) override { return Find(id).changes; }
  base::Result<std::vector<core::FileUse>> UsesOf(const std::string& id) override { return Find(id).uses; }
  base::Result<std::vector<core::FileVersion>> VersionsOf(const std::string&, const std::string& path) override {
    std::vector<core::FileVersion> versions;
    for (const HistoryEntry& entry : entries)
      for (const core::FileChange& change : entry.changes)
        if (change.path == path)
          versions.push_back({.execution = entry.execution.id, .sequence = entry.execution.sequence, .change = change});
    return versions;
  }

  base::Status AddSession(const core::SessionRecord&) override { return {}; }
  base::Status SetTenant(const std::string&, const std::string&) override { return {}; }
  base::Status TouchSession(const std::string&, core::TimePoint) override { return {}; }
  base::Status EndSession(const std::string&, core::TimePoint) override { return {}; }
  base::Result<core::SessionRecord> FindSession(const std::string&) override { return core::SessionRecord(); }
  base::Result<std::vector<core::SessionRecord>> SessionsNamed(const std::string&,
                                                               const std::optional<std::string>&) override {
    return std::vector<core::SessionRecord>();
  }
  base::Result<std::vector<core::SessionRecord>> Sessions(Which) override { return std::vector<core::SessionRecord>(); }
  base::Result<std::uint64_t> BeginExecution(const ExecutionRecord&) override { return 0; }
  base::Status EndExecution(const std::string&, const core::ExecutionEnd&) override { return {}; }
  base::Result<std::vector<ExecutionRecord>> Unfinished(const std::string&) override {
    return std::vector<ExecutionRecord>();
  }
  base::Result<std::vector<core::FileVersion>> CurrentFiles(const std::string&) override {
    return std::vector<core::FileVersion>();
  }

  std::vector<HistoryEntry> entries;
  std::size_t most_at_once = 0;

 private:
  const HistoryEntry& Find(const std::string& id) {
    return *std::ranges::find(entries, id, [](const HistoryEntry& entry) { return entry.execution.id; });
  }
};

class HistoryPagesTest : public testing::Test {
 protected:
  void AddMany(std::size_t count, std::size_t code) {
    for (std::size_t i = 0; i < count; ++i) store_.Add(std::string(code, 'x'), {"f"});
  }
  // The numbers of all executions, page by page, and how many pages there were.
  std::vector<std::uint64_t> Follow(std::size_t limit, std::size_t most_bytes) {
    std::vector<std::uint64_t> numbers;
    pages_ = 0;
    for (std::optional<std::uint64_t> after = 0; after && pages_ <= store_.entries.size(); ++pages_) {
      const auto page = LoadHistoryPage(store_, "s", {.after = *after, .limit = limit}, most_bytes);
      if (!page) return {};
      for (const HistoryEntry& entry : page->entries) numbers.push_back(entry.execution.sequence);
      after = page->next;
    }
    return numbers;
  }
  std::vector<std::uint64_t> All() const {
    std::vector<std::uint64_t> numbers;
    for (const HistoryEntry& entry : store_.entries) numbers.push_back(entry.execution.sequence);
    return numbers;
  }

  FakeRecordStore store_;
  std::size_t pages_ = 0;
};

TEST_F(HistoryPagesTest, PagesFollowedToTheEndGiveEveryExecutionOnce) {
  AddMany(50, 10);
  for (const std::size_t limit : {1U, 7U, 16U, 25U, 50U, 1000U})
    EXPECT_EQ(Follow(limit, std::size_t{1} << 30U), All()) << limit;
  EXPECT_EQ(pages_, 1U);
  Follow(25, std::size_t{1} << 30U);
  EXPECT_EQ(pages_, 2U) << "a page that ends where the record does is the last one";
}

TEST_F(HistoryPagesTest, APageThatSaysMuchEndsEarlier) {
  AddMany(40, 1000);
  EXPECT_EQ(Follow(1000, 10'000), All());
  EXPECT_GE(pages_, 4U);
  EXPECT_EQ(Follow(1000, 1), All()) << "one is always given";
  EXPECT_EQ(pages_, 40U);
}

TEST_F(HistoryPagesTest, FewExecutionsAreHeldBeforeTheyAreWeighed) {
  AddMany(100, 10);
  Follow(1000, std::size_t{1} << 30U);
  EXPECT_LE(store_.most_at_once, 16U);
}

TEST_F(HistoryPagesTest, AnEmptyRecordIsOneEmptyPage) {
  EXPECT_TRUE(Follow(10, 1000).empty());
  EXPECT_EQ(pages_, 1U);
}

TEST_F(HistoryPagesTest, ADrawingHasTheBeginningOfTheCodeOnly) {
  AddMany(20, 100'000);
  const auto entries = LoadHistoryOutline(store_, "s", {.after = 1, .limit = 18});
  ASSERT_TRUE(entries);
  ASSERT_EQ(entries->size(), 18U);
  EXPECT_EQ(entries->front().execution.sequence, 2U);
  EXPECT_EQ(entries->front().execution.what.size(), 4096U);
}

TEST_F(HistoryPagesTest, ADrawingOfTooMuchIsRefused) {
  AddMany(20, 1);  // an execution and a file each
  EXPECT_TRUE(LoadHistoryOutline(store_, "s", {.limit = SIZE_MAX}, 40));
  const auto refused = LoadHistoryOutline(store_, "s", {.limit = SIZE_MAX}, 39);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kTooLarge);
}

TEST_F(HistoryPagesTest, TheHistoryOfAFileHasBounds) {
  AddMany(10, 10'000);
  EXPECT_EQ(LoadFileHistoryPart(store_, "s", "f", 9).error().code, base::Code::kTooLarge);
  const auto history = LoadFileHistoryPart(store_, "s", "f", 10, 25'000);
  ASSERT_TRUE(history);
  ASSERT_EQ(history->versions.size(), 10U);
  EXPECT_FALSE(history->versions[1].execution.WhatIsCut());
  EXPECT_TRUE(history->versions[2].execution.WhatIsCut());
  EXPECT_EQ(history->versions[2].execution.what.size(), 4096U);
  EXPECT_EQ(LoadFileHistoryPart(store_, "s", "other").error().code, base::Code::kNotFound);
}

}  // namespace
}  // namespace skerry::engine
