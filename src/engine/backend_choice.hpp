// BackendChoice: which backend a request gets (S1.4), and whether that can do what is asked for. By what backends can
// and how strong they are, never by their names.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "core/backend_registry.hpp"
#include "core/execution.hpp"
#include "engine/manager_options.hpp"
#include "engine/run_streams.hpp"

namespace skerry::engine {

// Thread-safe. The registry and the options are borrowed.
class BackendChoice {
 public:
  BackendChoice(const core::BackendRegistry& registry, const ManagerOptions& options)
      : registry_(registry), options_(options) {}

  // The named one, else the default; never one weaker than the mode demands.
  [[nodiscard]] base::Result<core::Backend*> Named(const std::string& sandbox_type) const;
  // The same, but `auto` follows the risk, if the mode allows that and the light sandbox can do what is asked for.
  [[nodiscard]] base::Result<core::Backend*> For(const core::ExecutionRequest& request, const RunStreams& streams,
                                                 const RunOccasion& occasion, const core::RiskAssessment& risk) const;
  // Why a backend cannot do what is asked for.
  [[nodiscard]] base::Status Check(const core::ExecutionRequest& request, const RunStreams& streams,
                                   const RunWorkspace& workspace, std::string_view backend,
                                   const core::Abilities& abilities) const;
  // "; use the NAME one": a backend that has the ability; "" where none has.
  [[nodiscard]] std::string Advice(const std::function<bool(const core::Abilities&)>& can) const;

 private:
  // The backend for requests that name none, or one that is too weak; nullptr when there is none.
  [[nodiscard]] core::Backend* Preferred() const;
  // The backend with the least isolation, for code that needs none; nullptr when all isolate.
  [[nodiscard]] core::Backend* Lightest() const;

  const core::BackendRegistry& registry_;
  const ManagerOptions& options_;
};

}  // namespace skerry::engine
