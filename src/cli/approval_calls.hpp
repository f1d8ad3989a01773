// The daemon calls of the commands about approvals.
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

// By id, or by the beginning of the id if only one waiting approval has it, else only one of the last thousand decided
// ones. kNotFound, or kInvalidArgument when several match.
base::Result<nlohmann::ordered_json> FindApproval(DaemonClient& daemon, const std::string& id);
// The approval whose id begins so.
base::Result<nlohmann::ordered_json> ChooseApproval(const nlohmann::ordered_json& approvals, const std::string& id);

struct PersonsWord {
  enum class Kind { kApprove, kReject };
  Kind kind = Kind::kReject;
  std::string scope = "once";  // for kApprove
  std::string reason = {};
};
nlohmann::ordered_json DecisionAsJson(const PersonsWord& word, const std::string& digest);

// kRejected when it is too late, kConflict when the approval was answered already or has another digest.
base::Status Decide(DaemonClient& daemon, const std::string& id, const nlohmann::ordered_json& decision);

}  // namespace skerry::cli
