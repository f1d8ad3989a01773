// Where a run's bytes come from and go to, and for whom it is.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/output_sink.hpp"
#include "engine/gate.hpp"
#include "engine/run_controls.hpp"
#include "engine/run_input.hpp"
#include "engine/run_workspace.hpp"

namespace skerry::engine {

class ContextManager;

// A terminal for the program; its size comes and changes with RunControls::Resize.
struct TerminalOptions {
  std::string type = "dumb";  // TERM
};

// All of it is borrowed.
struct RunStreams {
  core::OutputSink* sink = nullptr;  // without one the output is collected into the result
  RunInput input;                    // with kOpen: what the controls are fed
  RunControls* controls = nullptr;
  std::optional<TerminalOptions> terminal;
};

// For whom a run is, and in which session.
struct RunOccasion {
  Asker asker;                         // in place of the gate's own service
  std::function<void()> admitted;      // called when nothing stands in the way of the run any more
  SessionRun* session = nullptr;       // whose workspace the run uses; borrowed, and filled
  ContextManager* contexts = nullptr;  // the session's, for requests that name a context; borrowed
  std::vector<std::string> secrets;    // values that a cell's context knows and nobody may see
};

}  // namespace skerry::engine
