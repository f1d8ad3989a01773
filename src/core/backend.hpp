// One interface for every isolation (S5.1): a backend makes sandboxes. A new backend is a folder of src/backends, a row
// in tools/layers.toml and a line in bin/skerry; no other code knows its name. docs/backends/README.md tells how.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "core/abilities.hpp"
#include "core/sandbox.hpp"
#include "core/sandbox_spec.hpp"

namespace skerry::core {

struct Availability {
  bool usable = false;
  std::string detail;  // what the backend is, or why it cannot be used and what to do about it
};

// Thread-safe. Outlives its sandboxes.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  [[nodiscard]] virtual std::string_view Name() const = 0;
  // The same for as long as the backend lives.
  [[nodiscard]] virtual Abilities Can() const = 0;
  // Whether sandboxes can be made here and now.
  [[nodiscard]] virtual Availability Probe(base::Deadline deadline) = 0;
  // Removes what sandboxes of a killed Skerry have left; never touches what belongs to a process that is alive. A
  // daemon calls it before its first sandbox is made. `skerry run` does not: a backend whose leftovers cost something
  // sweeps when it starts its first sandbox too.
  virtual base::Status SweepOrphans(base::Deadline deadline);

  // Makes a sandbox that is not started yet: it costs nothing but memory, and the call does not wait.
  virtual base::Result<std::unique_ptr<Sandbox>> Create(const SandboxSpec& spec) = 0;
};

inline base::Status Backend::SweepOrphans(base::Deadline) {
  return {};
}

}  // namespace skerry::core
