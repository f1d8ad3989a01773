// The native sandbox: namespaces, an empty root, Landlock, seccomp, cgroups. docs/backends/native.md tells the whole.
#pragma once

#include "base/feature.hpp"
#include "core/backend.hpp"
#include "launcher/client.hpp"

namespace skerry::backends::native {

inline constexpr std::string_view kName = "native";

class NativeBackend : public core::Backend {
 public:
  // Whether interpreters are kept loaded, to be forked into sandboxes. That pays for a process that runs many programs.
  enum class Zygotes { kNone, kPython };

  // `pretend_missing`: features that the backend treats as missing on this machine, for tests.
  explicit NativeBackend(launcher::ProgramPaths programs, base::FeatureSet pretend_missing = {},
                         Zygotes zygotes = Zygotes::kNone,
                         std::shared_ptr<const launcher::Lifeline> lifeline = nullptr);

  [[nodiscard]] std::string_view Name() const override { return kName; }
  [[nodiscard]] core::Abilities Can() const override;
  // Makes a sandbox and takes it down again.
  [[nodiscard]] core::Availability Probe(base::Deadline deadline) override;
  base::Result<std::unique_ptr<core::Sandbox>> Create(const core::SandboxSpec& spec) override;

 private:
  std::shared_ptr<launcher::Launcher> launcher_;  // one launcher makes all sandboxes
  std::vector<std::string> zygotes_;
  base::FeatureSet pretend_missing_;
};

}  // namespace skerry::backends::native
