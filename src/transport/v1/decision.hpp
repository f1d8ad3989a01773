// A person's answer to a question, over a request or a WebSocket.
#pragma once

#include <optional>
#include <string_view>

#include "engine/views/approvals_view.hpp"
#include "transport/v1/api.hpp"

namespace skerry::transport::v1 {

// `fields` has decision, digest, and perhaps scope and reason. The caller calls Finish on them, and ignores the result
// when that fails.
engine::ApprovalDecision ReadDecision(json::Fields& fields);
// Why the decision was refused; nothing when it was accepted.
std::optional<http::Refusal> Decide(const engine::Access& access, const engine::ApprovalDecision& decision);
std::string_view WordOf(engine::ApprovalDecision::Verdict verdict);

}  // namespace skerry::transport::v1
