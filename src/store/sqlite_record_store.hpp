// The record in one SQLite file. Any number of processes may have it open at once.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/record.hpp"
#include "store/open_record.hpp"

namespace skerry::store {

// What a method has acknowledged outlives the end of the process at any moment. When the machine loses its power the
// last moments may be lost, but the file stays whole. A store must not be used after a fork.
class SqliteRecordStore : public core::RecordStore {
 public:
  // As OpenRecord.
  static base::Result<std::unique_ptr<SqliteRecordStore>> Open(const std::string& path, const OpenOptions& options);

  base::Status AddSession(const core::SessionRecord& session) override;
  base::Status SetTenant(const std::string& id, const std::string& tenant) override;
  base::Status TouchSession(const std::string& id, core::TimePoint used_at) override;
  base::Status EndSession(const std::string& id, core::TimePoint deleted_at) override;
  base::Result<core::SessionRecord> FindSession(const std::string& id) override;
  base::Result<std::vector<core::SessionRecord>> SessionsNamed(const std::string& name,
                                                               const std::optional<std::string>& tenant) override;
  base::Result<std::vector<core::SessionRecord>> Sessions(Which which) override;

  base::Result<std::uint64_t> BeginExecution(const core::ExecutionRecord& execution) override;
  base::Status EndExecution(const std::string& id, const core::ExecutionEnd& end) override;
  base::Result<std::vector<core::ExecutionRecord>> Executions(const std::string& session, std::uint64_t after,
                                                              std::size_t limit) override;
  base::Result<core::ExecutionRecord> FindExecution(const std::string& id) override;
  base::Result<std::vector<core::ExecutionRecord>> Unfinished(const std::string& session) override;

  base::Result<std::vector<core::FileChange>> ChangesOf(const std::string& execution) override;
  base::Result<core::ChangesPage> PageOfChanges(const std::string& execution, std::uint64_t after,
                                                std::size_t limit) override;
  base::Result<std::uint64_t> CountChanges(const std::string& execution) override;
  base::Result<core::NoticesPage> PageOfNotices(const std::string& execution, core::FileNotice::About about,
                                                std::uint64_t after, std::size_t limit) override;
  base::Result<std::vector<core::FileUse>> UsesOf(const std::string& execution) override;
  base::Result<std::vector<core::FileVersion>> VersionsOf(const std::string& session, const std::string& path) override;
  base::Result<std::vector<core::FileVersion>> CurrentFiles(const std::string& session) override;
  base::Result<std::uint64_t> LeftOut(const std::string& session) override;
  base::Result<std::map<std::string, std::uint64_t>> BytesByTenant() override;
  base::Result<std::uint64_t> ForgetDeleted(const std::string& tenant, std::uint64_t bytes) override;

  // Reads and checks the whole file. kUnavailable when it is damaged.
  base::Status Check();

 private:
  explicit SqliteRecordStore(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  struct Deleted {
    std::int64_t key = 0;
    std::uint64_t bytes = 0;
  };
  // The caller holds the mutex.
  base::Result<std::optional<Deleted>> OldestDeleted(const std::string& tenant);
  // The row of a session or an execution; kNotFound when there is none. The caller holds the mutex.
  base::Result<std::int64_t> SessionKey(const std::string& id);
  base::Result<std::int64_t> LivingSessionKey(const std::string& id);
  base::Result<std::int64_t> SequenceOf(const std::string& execution);
  base::Status InsertExecution(std::int64_t session, const std::string& digest, const core::ExecutionRecord& execution);
  base::Status AddBytes(std::int64_t session, std::uint64_t bytes);
  base::Status InsertCause(std::int64_t sequence, const std::string& cause);
  base::Status UpdateExecution(std::int64_t sequence, const core::ExecutionEnd& end);
  base::Status InsertChanges(std::int64_t sequence, const std::vector<core::FileChange>& changes);
  base::Status InsertNotices(std::int64_t sequence, const std::vector<core::FileNotice>& notices);
  base::Status InsertUses(std::int64_t sequence, const std::vector<core::FileUse>& uses);

  std::mutex mutex_;
  std::unique_ptr<Database> database_;
};

}  // namespace skerry::store
