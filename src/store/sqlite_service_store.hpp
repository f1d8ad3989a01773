// What a daemon keeps (tokens, hosted sessions, runs, approvals), in the file of the record. A SqliteRecordStore, of
// this process or of others, may use the same file at the same time.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/service_store.hpp"
#include "store/open_record.hpp"

namespace skerry::store {

// When the machine loses its power the last moments may be lost, but the file stays whole. A store must not be used
// after a fork.
class SqliteServiceStore : public core::ServiceStore {
 public:
  // As OpenRecord.
  static base::Result<std::unique_ptr<SqliteServiceStore>> Open(const std::string& path, const OpenOptions& options);

  // kConflict also for a secret that another token has.
  base::Status AddToken(const core::TokenRecord& token) override;
  base::Result<std::vector<core::TokenRecord>> Tokens() override;
  // A token that is revoked twice keeps the first time.
  base::Status RevokeToken(const std::string& id, core::TimePoint at) override;

  base::Status AddHosted(const core::HostedSessionRecord& session,
                         const std::optional<core::IdempotencyClaim>& claim) override;
  base::Status UpdateHosted(const core::HostedSessionRecord& session) override;
  // Removes the session, its runs, and the idempotency keys of both. When the call fails, or the process is killed, the
  // session is still there and some of its runs may be gone.
  base::Status RemoveHosted(const std::string& id) override;
  base::Result<std::vector<core::HostedSessionRecord>> Hosted() override;

  // kNotFound when the run's session is not there; kInvalidArgument for a run that has ended.
  base::Result<std::uint64_t> BeginRun(const core::RunRecord& run,
                                       const std::optional<core::IdempotencyClaim>& claim) override;
  base::Result<std::uint64_t> EndRun(const std::string& id, const core::RunEnd& end, core::TimePoint at) override;
  base::Result<core::RunRecord> FindRun(const std::string& id) override;
  base::Result<std::vector<core::RunRecord>> Runs(const core::RunFilter& filter) override;
  base::Result<std::vector<core::RunOwner>> RunOwners() override;
  base::Result<std::vector<core::RunRecord>> UnfinishedRuns() override;  // the oldest first
  // Forgets runs that have ended, never others.
  base::Result<std::vector<std::string>> ForgetRuns(core::TimePoint ended_before, std::size_t keep,
                                                    std::size_t limit) override;

  base::Result<Forgotten> ForgetRunsOf(const std::string& tenant, std::uint64_t bytes, std::size_t limit) override;
  base::Result<std::map<std::string, std::uint64_t>> BytesByTenant() override;

  base::Result<core::IdempotencyRecord> FindClaim(const std::string& tenant, const std::string& key) override;

  base::Status AddApproval(const core::ApprovalRecord& approval) override;
  base::Status DecideApproval(const core::ApprovalRecord& approval) override;
  base::Status CancelApprovals(const std::string& reason, core::TimePoint at) override;
  base::Result<std::vector<core::ApprovalRecord>> Approvals(const core::ApprovalFilter& filter) override;
  base::Result<core::ApprovalRecord> FindApproval(const std::string& id) override;
  base::Status ForgetApprovals(std::size_t keep) override;

  base::Result<bool> Shrink() override;

 private:
  explicit SqliteServiceStore(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  // Removes as much as one transaction should. True when that was all and the session is gone.
  base::Result<bool> RemovePartOf(const std::string& session);

  // For all of the following the caller holds the mutex. Those that change something are called inside of a
  // transaction.
  base::Result<std::int64_t> HostedKey(const std::string& id);
  base::Result<std::int64_t> NumberOfApproval(const std::string& id);
  base::Status InsertRun(const core::RunRecord& run);
  base::Status InsertClaim(const std::optional<core::IdempotencyClaim>& claim, const std::string& made);
  base::Status RemoveWithClaims(std::string_view remove, const std::string& id);
  // Removes the runs whose ids `list` gives.
  base::Status RemoveListed(Statement list, std::vector<std::string>& removed);

  std::mutex mutex_;
  std::unique_ptr<Database> database_;
};

}  // namespace skerry::store
