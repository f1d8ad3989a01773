// The JSON form of sessions.
#pragma once

#include "engine/views/sessions_view.hpp"
#include "transport/v1/api.hpp"

namespace skerry::transport::v1 {

Json SessionToJson(const engine::ShownSession& session);
Json UsageToJson(const engine::WorkspaceUsage& usage);

}  // namespace skerry::transport::v1
