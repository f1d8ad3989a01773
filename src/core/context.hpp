// A context: an interpreter in a sandbox that keeps its state between pieces of code, called cells.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/cell.hpp"
#include "core/execution.hpp"
#include "core/output_sink.hpp"
#include "core/process.hpp"

namespace skerry::core {

struct NewContext {
  Language language = Language::kPython;
  Reach ends = Reach::kSandbox;                    // what is ended together with the context
  std::map<std::string, std::string> environment;  // on top of the clean environment of every sandbox
};

struct Cell {
  std::string text;
  std::map<std::string, std::string> environment;  // of this cell alone, on top of the context's
  std::chrono::milliseconds timeout{30'000};
  std::uint64_t max_output_bytes = 10U << 20U;  // of both streams and of the outputs, each
};

struct CellResult {
  // kExited with 0, or with 1 where there is an error. kTimedOut or kCancelled: the cell was interrupted; `alive` says
  // whether the context survived. Any other outcome: the context died.
  Outcome outcome;
  std::vector<CellOutput> outputs;
  std::optional<CellError> error;
  bool output_truncated = false;
  std::uint64_t output_bytes = 0;
  bool alive = true;  // false: the context is lost with its variables
};

// The variables of a context, for another context. Bytes of a tenant: only a worker in a sandbox may read them.
struct ContextState {
  std::string bytes;
  std::vector<std::string> left_out;  // names of the variables that could not be saved
};

// Used by one thread at a time. Ends with its sandbox.
class Context {
 public:
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  virtual ~Context() = default;

  // A request to stop, and the timeout, interrupt the cell; when the cell ignores the interrupt, the context is ended.
  virtual base::Result<CellResult> Run(const Cell& cell, OutputSink& sink, std::stop_token stop) = 0;

  // For a branch: kUnavailable where the language cannot save its state.
  virtual base::Result<ContextState> Save(std::chrono::milliseconds timeout) = 0;
  virtual base::Status Load(const ContextState& state, std::chrono::milliseconds timeout) = 0;

  [[nodiscard]] virtual bool Alive() const = 0;
  [[nodiscard]] virtual StartKind Started() const = 0;
};

}  // namespace skerry::core
