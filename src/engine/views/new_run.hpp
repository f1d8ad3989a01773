// What a dialect says of a new run, and what it gets of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "core/execution.hpp"
#include "core/service_store.hpp"
#include "engine/consent.hpp"
#include "engine/context_manager.hpp"
#include "engine/run.hpp"
#include "engine/runs.hpp"
#include "engine/views/session_handle.hpp"

namespace skerry::engine {

enum class RunKind {
  kCode,
  kCommand,  // of a session
  kCell,     // of a context
};

// What becomes of a run when the client disconnects.
enum class WhenLeft {
  kGoesOn,
  kEnds,            // with the client that began it
  kEndsUnattended,  // with the last client that is attached to it
};

struct NewRun {
  RunKind kind = RunKind::kCode;
  std::optional<SessionHandle> session;    // none: the run gets a sandbox of its own
  core::ExecutionRequest request;          // for a cell: its context, code, timeout and output
  Creation creation = Creation::kNever;    // whether a cell makes a missing context
  std::optional<core::Language> language;  // the context's; a context that is made without it is one for Python
  Consent consent = Consent::kAsk;
  std::optional<std::string> input_text;
  Input input = Input::kNone;
  std::optional<core::TerminalSize> terminal;
  WhenLeft when_left = WhenLeft::kGoesOn;
  std::stop_token gone;  // the client has disconnected
  std::optional<core::IdempotencyClaim> claim;
};

struct StartedRun {
  std::shared_ptr<const Run> run;
  bool replayed = false;        // the run was there already: the claim's key was used before
  std::shared_ptr<void> leash;  // with WhenLeft::kEnds: the run ends when the last owner releases this
};

// The approval that a run waits for.
struct RunQuestion {
  std::string approval;  // the approval's id
  std::string digest;
  core::TimePoint expires;
};

}  // namespace skerry::engine
