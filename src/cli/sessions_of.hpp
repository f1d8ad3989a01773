// The sessions of this user, as the configuration says.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "cli/command.hpp"
#include "engine/sessions.hpp"

namespace skerry::cli {

// With their record. A record that cannot be opened is an error only where it is required; otherwise a note on stderr
// says so when something would be written.
struct SessionsAndRecord {
  std::shared_ptr<core::RecordStore> store;  // none when it could not be opened
  engine::Sessions sessions;
};
base::Result<SessionsAndRecord> SessionsOf(const Context& context, const config::Sandbox& sandbox);

// The store alone, for those who only read it.
base::Result<std::shared_ptr<core::RecordStore>> RecordOf(const Context& context, const config::Sandbox& sandbox);

// How long a command waits for a session that another one works with.
base::Deadline PatienceForSession();

}  // namespace skerry::cli
