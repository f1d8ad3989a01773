// What the commands about approvals ask the daemon.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "cli/daemon_client.hpp"

namespace skerry::cli {

// Approvals of the contract, in an array; of one session, or of all.
base::Result<nlohmann::ordered_json> WaitingApprovals(DaemonClient& daemon, const std::optional<std::string>& session);
// The newest first.
base::Result<nlohmann::ordered_json> PastApprovals(DaemonClient& daemon, const std::optional<std::string>& session,
                                                   std::size_t most);

// By its id, or by a beginning that only one of those that wait has, else one of the last thousand that are over.
// kNotFound, or kInvalidArgument when there are several.
base::Result<nlohmann::ordered_json> FindApproval(DaemonClient& daemon, const std::string& id);
// The one whose id begins so.
base::Result<nlohmann::ordered_json> ChooseApproval(const nlohmann::ordered_json& approvals, const std::string& id);

struct PersonsWord {
  enum class Kind { kApprove, kReject };
  Kind kind = Kind::kReject;
  std::string scope = "once";  // of an approval
  std::string reason = {};
};
nlohmann::ordered_json DecisionAsJson(const PersonsWord& word, const std::string& digest);

// kRejected when it is too late, kConflict when it was answered already or the digest is another.
base::Status Decide(DaemonClient& daemon, const std::string& id, const nlohmann::ordered_json& decision);

}  // namespace skerry::cli
