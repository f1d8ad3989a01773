// What the tests of the record share.
#pragma once

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "store/sqlite_record_store.hpp"

namespace skerry::store {

inline core::TimePoint At(std::int64_t seconds) {
  return core::TimePoint(std::chrono::seconds(1'700'000'000 + seconds));
}

inline core::ExecutionRecord AnExecution(const std::string& id, const std::string& session = "s") {
  core::ExecutionRecord execution;
  execution.id = id;
  execution.session = session;
  execution.kind = "run";
  execution.what = "print(1)";
  execution.started_at = At(0);
  return execution;
}

inline core::FileChange AChange(const std::string& path, core::FileAction action = core::FileAction::kCreated) {
  const bool removed = action == core::FileAction::kRemoved;
  return {.path = path, .action = action, .size = 3, .mode = 0644, .sha256 = removed ? "" : std::string(64, 'a')};
}

inline core::ExecutionEnd AnEnd(std::vector<core::FileChange> changes = {}) {
  core::ExecutionEnd end;
  end.outcome = "exited";
  end.ended_at = At(1);
  end.changes = std::move(changes);
  return end;
}

// Begins an execution and ends it.
inline base::Status Record(core::RecordStore& store, const core::ExecutionRecord& execution,
                           const core::ExecutionEnd& end) {
  SKERRY_RETURN_IF_ERROR(store.BeginExecution(execution));
  return store.EndExecution(execution.id, end);
}

// Runs `body`, which says whether all went well, in a process of its own.
template <class Body>
pid_t StartChild(Body body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body() ? 0 : 1);
  return child;
}

inline bool EndedWell(pid_t child) {
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// In a child process: what was expected and is not goes to stderr.
inline bool Expect(bool holds, const std::string& what) {
  if (!holds) std::fprintf(stderr, "in the child: %s\n", what.c_str());
  return holds;
}

class RecordTest : public testing::Test {
 protected:
  RecordTest() {
    std::string name = (std::filesystem::temp_directory_path() / "skerry-record-XXXXXX").string();
    directory_ = std::filesystem::canonical(::mkdtemp(name.data()));
  }
  ~RecordTest() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::string Path() const { return (directory_ / "record.db").string(); }

  std::unique_ptr<SqliteRecordStore> Open(std::chrono::milliseconds busy_timeout = std::chrono::seconds(20)) {
    auto store = SqliteRecordStore::Open(Path(), {.busy_timeout = busy_timeout});
    if (!store) {
      ADD_FAILURE() << store.error().message;
      std::abort();
    }
    return std::move(*store);
  }

  std::string OpenError() {
    const auto store = SqliteRecordStore::Open(Path(), {.busy_timeout = std::chrono::milliseconds(100)});
    if (store) return "";
    EXPECT_EQ(store.error().code, base::Code::kUnavailable);
    return store.error().message;
  }

  std::filesystem::path directory_;
};

}  // namespace skerry::store
