// What a daemon keeps: tokens, its sessions, its runs, approvals. The port that a store implements. The record of what
// happened in a session is another port (core/record.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/record.hpp"
#include "core/run_end.hpp"

namespace skerry::core {

enum class TokenScope { kRead, kRun, kApprove, kAdmin, kMetrics };
std::string_view NameOf(TokenScope scope);
std::optional<TokenScope> ParseTokenScope(std::string_view name);

// 0: the value of the configuration.
struct TokenLimits {
  std::uint64_t requests_per_second = 0;
  std::uint64_t concurrent_runs = 0;
  std::uint64_t sessions = 0;

  bool operator==(const TokenLimits&) const = default;
};

struct TokenRecord {
  std::string id;      // "tok…", no secret
  std::string name;    // for people
  std::string tenant;  // whose sessions and runs the token may touch
  std::vector<TokenScope> scopes;
  std::string secret_sha256;  // 64 hexadecimal digits
  TokenLimits limits;
  std::string created_by;
  TimePoint created_at;
  std::optional<TimePoint> expires_at;
  std::optional<TimePoint> revoked_at;

  bool operator==(const TokenRecord&) const = default;
};

// A session that a daemon keeps. Its files and its history are kept elsewhere.
struct HostedSessionRecord {
  std::string id;  // see core/session_name.hpp
  std::string tenant;
  std::string settings;  // as the engine encoded them
  TimePoint created_at;
  std::optional<TimePoint> expires_at;
  bool in_use = false;  // the session has a sandbox

  bool operator==(const HostedSessionRecord&) const = default;
};

struct RunRecord {
  std::string id;
  std::uint64_t sequence = 0;  // in the order of their beginning; given by the store
  std::string session;         // id; "" for a run without a session
  std::string tenant;
  std::string kind;      // "execute", "command", "cell"
  std::string language;  // of code; "" of a command
  std::string what;      // the beginning of the code or command, for lists
  RunState state = RunState::kWaiting;
  std::optional<RunEnd> end;  // none until the end; in lists with a summary of the result
  TimePoint created_at;
  std::optional<TimePoint> ended_at;

  bool operator==(const RunRecord&) const = default;
};

// Whose a run is.
struct RunOwner {
  std::string id;
  std::string tenant;
  std::uint64_t sequence = 0;
};

// A request that must not be carried out twice.
struct IdempotencyClaim {
  std::string tenant;
  std::string key;
  std::string request_sha256;
};
struct IdempotencyRecord {
  std::string request_sha256;
  std::string made;  // id of the session or run that the request made
};

struct RunFilter {
  std::optional<std::string> tenant;  // none: of every tenant
  std::optional<std::string> session;
  std::optional<std::string> kind;
  std::optional<RunState> state;
  std::uint64_t before = 0;  // sequence number: runs that began earlier; 0 for the newest
  std::size_t limit = 100;
};

// An approval: a question to a person and its answer.
struct ApprovalRecord {
  std::string id;
  std::string session;
  std::string execution;
  std::string tenant;
  std::string digest;
  std::string decision;  // "" while the question waits for its answer
  std::string decided_by;
  std::string decided_from;  // the address from which the person answered
  std::string scope;         // how long the answer holds
  std::string reason;
  TimePoint asked_at;
  std::optional<TimePoint> decided_at;

  bool operator==(const ApprovalRecord&) const = default;
};

struct ApprovalFilter {
  std::optional<std::string> tenant;   // none: of every tenant
  std::optional<std::string> session;  // id or name
  std::string before;                  // an id: questions that were asked earlier; "" for the newest
  std::size_t limit = 100;
};

// Times are kept to the microsecond. Thread-safe. Methods fail with kNotFound for a record that is not there, kConflict
// for one that is there already, kUnavailable when the store cannot be used. A change that a method has acknowledged
// outlives the end of the process at any moment.
class ServiceStore {
 public:
  ServiceStore() = default;
  ServiceStore(const ServiceStore&) = delete;
  ServiceStore& operator=(const ServiceStore&) = delete;
  virtual ~ServiceStore() = default;

  virtual base::Status AddToken(const TokenRecord& token) = 0;
  virtual base::Result<std::vector<TokenRecord>> Tokens() = 0;  // all, in the order of their creation
  virtual base::Status RevokeToken(const std::string& id, TimePoint at) = 0;

  // With a claim: kConflict when its key is known, and then nothing was added. The id of a session may be used again
  // after RemoveHosted.
  virtual base::Status AddHosted(const HostedSessionRecord& session, const std::optional<IdempotencyClaim>& claim) = 0;
  virtual base::Status UpdateHosted(const HostedSessionRecord& session) = 0;  // all but id, tenant and created_at
  virtual base::Status RemoveHosted(const std::string& id) = 0;               // with its runs
  virtual base::Result<std::vector<HostedSessionRecord>> Hosted() = 0;        // in the order of their creation

  // Gives the sequence number. A claim is handled as by AddHosted.
  virtual base::Result<std::uint64_t> BeginRun(const RunRecord& run, const std::optional<IdempotencyClaim>& claim) = 0;
  // Gives the bytes that the end takes in the store. kConflict when it has ended already: a run has one final state.
  virtual base::Result<std::uint64_t> EndRun(const std::string& id, const RunEnd& end, TimePoint at) = 0;
  virtual base::Result<RunRecord> FindRun(const std::string& id) = 0;
  virtual base::Result<std::vector<RunRecord>> Runs(const RunFilter& filter) = 0;  // the newest first, with summaries
  virtual base::Result<std::vector<RunOwner>> RunOwners() = 0;                     // of all runs
  virtual base::Result<std::vector<RunRecord>> UnfinishedRuns() = 0;               // of every tenant
  // Removes ended runs without a session: those that ended before `ended_before`, and all but the newest `keep` of the
  // rest; their idempotency keys go with them. Gives the ids, at most `limit`.
  virtual base::Result<std::vector<std::string>> ForgetRuns(TimePoint ended_before, std::size_t keep,
                                                            std::size_t limit) = 0;

  // Removes the oldest ended runs of a tenant, with their keys, until so many bytes are free; at most `limit` at a
  // time.
  struct Forgotten {
    std::vector<std::string> ids;
    std::uint64_t bytes = 0;
  };
  virtual base::Result<Forgotten> ForgetRunsOf(const std::string& tenant, std::uint64_t bytes, std::size_t limit) = 0;
  // About how many bytes the runs of each tenant take.
  virtual base::Result<std::map<std::string, std::uint64_t>> BytesByTenant() = 0;

  // kNotFound when the key is new.
  virtual base::Result<IdempotencyRecord> FindClaim(const std::string& tenant, const std::string& key) = 0;

  virtual base::Status AddApproval(const ApprovalRecord& approval) = 0;
  // kConflict when the question was decided already.
  virtual base::Status DecideApproval(const ApprovalRecord& approval) = 0;
  // Cancels all questions that wait for an answer.
  virtual base::Status CancelApprovals(const std::string& reason, TimePoint at) = 0;
  // The newest first. kNotFound when there is no approval with the id `before`.
  virtual base::Result<std::vector<ApprovalRecord>> Approvals(const ApprovalFilter& filter) = 0;
  virtual base::Result<ApprovalRecord> FindApproval(const std::string& id) = 0;
  // Removes decided approvals that are not among the newest `keep` of their tenant.
  virtual base::Status ForgetApprovals(std::size_t keep) = 0;

  // Gives unused room back to the disk, a piece at a time. True: there is more of it.
  virtual base::Result<bool> Shrink() = 0;
};

}  // namespace skerry::core
