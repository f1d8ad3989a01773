// The lightest backend: no namespaces, so the program sees the machine. For development only (S5.2): a clean
// environment, no_new_privs, no capabilities, limits, seccomp, and Landlock around the workspace where the kernel has
// it.
#pragma once

#include "core/backend.hpp"
#include "launcher/client.hpp"

namespace skerry::backends::subprocess {

inline constexpr std::string_view kName = "subprocess";

class SubprocessBackend : public core::Backend {
 public:
  // Each sandbox has a scratch directory below `scratch_base` for its temporary files. Every user can reach
  // `scratch_base`.
  SubprocessBackend(launcher::ProgramPaths programs, std::string scratch_base,
                    std::shared_ptr<const launcher::Lifeline> lifeline = nullptr)
      : programs_(std::move(programs)), scratch_base_(std::move(scratch_base)), lifeline_(std::move(lifeline)) {}

  [[nodiscard]] std::string_view Name() const override { return kName; }
  [[nodiscard]] core::Abilities Can() const override;
  [[nodiscard]] core::Availability Probe(base::Deadline deadline) override;
  base::Status SweepOrphans(base::Deadline deadline) override;
  base::Result<std::unique_ptr<core::Sandbox>> Create(const core::SandboxSpec& spec) override;

 private:
  launcher::ProgramPaths programs_;
  std::string scratch_base_;
  std::shared_ptr<const launcher::Lifeline> lifeline_;
};

}  // namespace skerry::backends::subprocess
