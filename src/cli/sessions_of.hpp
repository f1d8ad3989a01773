// Sessions and their record, as a daemon's configuration says.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "cli/command.hpp"
#include "engine/sessions.hpp"

namespace skerry::cli {

// The path of the record; makes its directory. kInvalidArgument when the configuration gives none.
base::Result<std::string> RecordPathOf(const config::Sandbox& sandbox);
// Where a daemon writes its audit. Makes nothing.
base::Result<std::string> AuditPathOf(const config::Sandbox& sandbox);
base::Result<std::shared_ptr<core::ServiceStore>> ServiceStoreOf(const Context& context,
                                                                 const config::Sandbox& sandbox);
engine::SessionsOptions SessionsOptionsOf(const config::Workspace& workspace);
// A record that cannot be opened is an error only where it is required; otherwise a note on stderr says so at the first
// write.
engine::RecorderOptions RecorderOptionsOf(const Context& context, const config::Sandbox& sandbox);

}  // namespace skerry::cli
