#include "core/history.hpp"

#include <gtest/gtest.h>

namespace skerry::core {
namespace {

using base::Code;

// Has only the methods that a history reads; every execution belongs to one session.
class FakeRecordStore : public RecordStore {
 public:
  // Adds an execution, whose sequence number is its place.
  void Add(const std::string& id, std::vector<FileChange> changes, std::vector<FileUse> uses = {}) {
    HistoryEntry entry;
    entry.execution.id = id;
    entry.execution.sequence = entries.size() + 1;
    entry.changes = std::move(changes);
    entry.changes_total = entry.changes.size();
    entry.uses = std::move(uses);
    entries.push_back(std::move(entry));
  }

  base::Result<std::vector<ExecutionRecord>> Executions(const std::string& session, std::uint64_t after,
                                                        std::size_t limit) override {
    if (session != "s") return base::Err(Code::kNotFound, "no session");
    std::vector<ExecutionRecord> page;
    for (const HistoryEntry& entry : entries)
      if (entry.execution.sequence > after && page.size() < limit) page.push_back(entry.execution);
    return page;
  }
  base::Result<ExecutionRecord> FindExecution(const std::string& id) override {
    SKERRY_ASSIGN_OR_RETURN(const HistoryEntry* entry, Find(id));
    return entry->execution;
  }
  base::Result<ChangesPage> PageOfChanges(const std::string& execution, std::uint64_t, std::size_t limit) override {
    SKERRY_ASSIGN_OR_RETURN(auto changes, ChangesOf(execution));
    ChangesPage page{.next = changes.size() > limit ? limit : 0};
    changes.resize(std::min(changes.size(), limit));
    page.changes = std::move(changes);
    return page;
  }
  base::Result<NoticesPage> PageOfNotices(const std::string&, FileNotice::About, std::uint64_t, std::size_t) override {
    return NoticesPage();
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
  base::Result<std::vector<FileChange>> ChangesOf(const std::string& id) override {
    SKERRY_ASSIGN_OR_RETURN(const HistoryEntry* entry, Find(id));
    return entry->changes;
  }
  base::Result<std::vector<FileUse>> UsesOf(const std::string& id) override {
    SKERRY_ASSIGN_OR_RETURN(const HistoryEntry* entry, Find(id));
    return entry->uses;
  }
  base::Result<std::vector<FileVersion>> VersionsOf(const std::string& session, const std::string& path) override {
    if (session != "s") return base::Err(Code::kNotFound, "no session");
    std::vector<FileVersion> versions;
    for (const HistoryEntry& entry : entries)
      for (const FileChange& change : entry.changes)
        if (change.path == path)
          versions.push_back({.execution = entry.execution.id, .sequence = entry.execution.sequence, .change = change});
    return versions;
  }

  base::Status AddSession(const SessionRecord&) override { return {}; }
  base::Status SetTenant(const std::string&, const std::string&) override { return {}; }
  base::Status TouchSession(const std::string&, TimePoint) override { return {}; }
  base::Status EndSession(const std::string&, TimePoint) override { return {}; }
  base::Result<SessionRecord> FindSession(const std::string&) override { return SessionRecord(); }
  base::Result<std::vector<SessionRecord>> SessionsNamed(const std::string&,
                                                         const std::optional<std::string>&) override {
    return std::vector<SessionRecord>();
  }
  base::Result<std::vector<SessionRecord>> Sessions(Which) override { return std::vector<SessionRecord>(); }
  base::Result<std::uint64_t> BeginExecution(const ExecutionRecord&) override { return 0; }
  base::Status EndExecution(const std::string&, const ExecutionEnd&) override { return {}; }
  base::Result<std::vector<ExecutionRecord>> Unfinished(const std::string&) override {
    return std::vector<ExecutionRecord>();
  }
  base::Result<std::vector<FileVersion>> CurrentFiles(const std::string&) override {
    return std::vector<FileVersion>();
  }

  std::vector<HistoryEntry> entries;

 private:
  base::Result<const HistoryEntry*> Find(const std::string& id) {
    for (const HistoryEntry& entry : entries)
      if (entry.execution.id == id) return &entry;
    return base::Err(Code::kNotFound, "no execution " + id);
  }
};

FileChange Wrote(const std::string& path, const std::string& sha256) {
  return {.path = path, .action = FileAction::kChanged, .sha256 = sha256};
}

FileChange Removed(const std::string& path) {
  return {.path = path, .action = FileAction::kRemoved};
}

// "path by execution" of each origin, in order.
std::vector<std::string> Origins(const FileHistory& history) {
  std::vector<std::string> origins;
  origins.reserve(history.origins.size());
  for (const FileStep& step : history.origins)
    origins.push_back(step.version.change.path + " by " + step.version.execution);
  return origins;
}

std::string SourceOfLast(const FileHistory& history) {
  const FileSource& source = history.versions.back().sources.at(0);
  return source.made ? source.made->execution : "outside";
}

using Names = std::vector<std::string>;

TEST(LoadHistoryTest, HasEachExecutionWithItsFiles) {
  FakeRecordStore store;
  store.Add("e1", {Wrote("a", "1")});
  store.Add("e2", {Removed("a")}, {{.path = "a"}});
  EXPECT_EQ(LoadHistory(store, "s", {}).value(), store.entries);
}

TEST(LoadHistoryTest, ComesInPages) {
  FakeRecordStore store;
  for (const char* id : {"e1", "e2", "e3"}) store.Add(id, {});
  const auto page = LoadHistory(store, "s", {.after = 1, .limit = 1}).value();
  ASSERT_EQ(page.size(), 1U);
  EXPECT_EQ(page[0].execution.id, "e2");
}

TEST(LoadHistoryTest, TellsWhatTheStoreTells) {
  FakeRecordStore store;
  EXPECT_EQ(LoadHistory(store, "x", {}).error().code, Code::kNotFound);
}

TEST(FileHistoryTest, HasEveryStateWithItsExecution) {
  FakeRecordStore store;
  store.Add("e1", {Wrote("a", "1")});
  store.Add("e2", {Wrote("b", "1")});
  store.Add("e3", {Removed("a")});
  const auto history = LoadFileHistory(store, "s", "a").value();
  ASSERT_EQ(history.versions.size(), 2U);
  EXPECT_EQ(history.versions[0].execution.id, "e1");
  EXPECT_EQ(history.versions[1].execution.id, "e3");
  EXPECT_EQ(history.versions[1].version.change, Removed("a"));
  EXPECT_TRUE(history.origins.empty());
  EXPECT_FALSE(history.cut);
}

TEST(FileHistoryTest, AFileThatNeverWasIsNotFound) {
  FakeRecordStore store;
  EXPECT_EQ(LoadFileHistory(store, "s", "a").error().code, Code::kNotFound);
}

TEST(FileHistoryTest, FollowsWhatWasUsedBackToTheBeginning) {
  FakeRecordStore store;
  store.Add("fetch", {Wrote("raw", "1")});
  store.Add("clean", {Wrote("table", "2")}, {{.path = "raw", .sha256 = "1"}});
  store.Add("plot", {Wrote("picture", "3")}, {{.path = "table", .how = FileUse::How::kNamed, .sha256 = "2"}});
  const auto history = LoadFileHistory(store, "s", "picture").value();
  EXPECT_EQ(SourceOfLast(history), "clean");
  EXPECT_EQ(Origins(history), (Names{"table by clean", "raw by fetch"}));
  EXPECT_FALSE(history.cut);
}

TEST(FileHistoryTest, TheStateThatWasUsedIsTheOneWithItsDigest) {
  FakeRecordStore store;
  store.Add("e1", {Wrote("a", "1")});
  store.Add("e2", {Wrote("a", "2")});
  store.Add("e3", {Wrote("b", "9")}, {{.path = "a", .sha256 = "1"}});
  EXPECT_EQ(SourceOfLast(LoadFileHistory(store, "s", "b").value()), "e1");
}

TEST(FileHistoryTest, WithoutADigestItIsTheLastStateBefore) {
  FakeRecordStore store;
  store.Add("e1", {Wrote("a", "1")});
  store.Add("e2", {Wrote("a", "2")});
  store.Add("e3", {Wrote("b", "9")}, {{.path = "a"}});
  store.Add("e4", {Wrote("a", "3")});
  EXPECT_EQ(SourceOfLast(LoadFileHistory(store, "s", "b").value()), "e2");
}

TEST(FileHistoryTest, WhatNoExecutionMadeComesFromOutside) {
  FakeRecordStore store;
  store.Add("e1", {Wrote("a", "1")});
  store.Add("e2", {Removed("a")});
  store.Add("e3", {Wrote("b", "9")}, {{.path = "a"}});
  store.Add("e4", {Wrote("c", "9")}, {{.path = "a", .sha256 = "other"}});
  store.Add("e5", {Wrote("d", "9")}, {{.path = "never"}});
  for (const char* path : {"b", "c", "d"})
    EXPECT_EQ(SourceOfLast(LoadFileHistory(store, "s", path).value()), "outside") << path;
}

TEST(FileHistoryTest, AFileThatIsMadeFromItselfEnds) {
  FakeRecordStore store;
  store.Add("e1", {Wrote("a", "1"), Wrote("b", "1")}, {{.path = "a", .sha256 = "1"}, {.path = "b", .sha256 = "1"}});
  store.Add("e2", {Wrote("a", "1"), Wrote("b", "1")}, {{.path = "a", .sha256 = "1"}, {.path = "b", .sha256 = "1"}});
  const auto history = LoadFileHistory(store, "s", "a").value();
  EXPECT_EQ(Origins(history), (Names{"b by e1"}));
  EXPECT_FALSE(history.cut);
}

TEST(FileHistoryTest, WhatIsReachedTwiceIsThereOnce) {
  FakeRecordStore store;
  store.Add("e0", {Wrote("root", "0")});
  store.Add("e1", {Wrote("left", "1")}, {{.path = "root"}});
  store.Add("e2", {Wrote("right", "2")}, {{.path = "root"}});
  store.Add("e3", {Wrote("both", "3")}, {{.path = "left"}, {.path = "right"}});
  const auto history = LoadFileHistory(store, "s", "both").value();
  EXPECT_EQ(Origins(history), (Names{"left by e1", "right by e2", "root by e0"}));
}

TEST(FileHistoryTest, TheBoundsKeepWhatIsNearestAndSayThatThereIsMore) {
  FakeRecordStore store;
  store.Add("e0", {Wrote("0", "0")});
  for (int i = 1; i <= 5; ++i)
    store.Add("e" + std::to_string(i), {Wrote(std::to_string(i), "x")}, {{.path = std::to_string(i - 1)}});
  const auto shallow = LoadFileHistory(store, "s", "5", {.depth = 2}).value();
  EXPECT_EQ(Origins(shallow), (Names{"4 by e4", "3 by e3"}));
  EXPECT_TRUE(shallow.cut);
  const auto few = LoadFileHistory(store, "s", "5", {.origins = 1}).value();
  EXPECT_EQ(Origins(few), (Names{"4 by e4"}));
  EXPECT_TRUE(few.cut);
  EXPECT_FALSE(LoadFileHistory(store, "s", "5", {.depth = 5, .origins = 5})->cut);
}

}  // namespace
}  // namespace skerry::core
