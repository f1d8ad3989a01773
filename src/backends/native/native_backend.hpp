// The native sandbox: namespaces, an empty root, Landlock, seccomp, cgroups. docs/backends/native.md tells the whole.
#pragma once

#include "core/backend.hpp"
#include "launcher/client.hpp"

namespace skerry::backends::native {

inline constexpr std::string_view kName = "native";

class NativeBackend : public core::Backend {
 public:
  explicit NativeBackend(launcher::ProgramPaths programs) : programs_(std::move(programs)) {}

  [[nodiscard]] std::string_view Name() const override { return kName; }
  [[nodiscard]] core::IsolationLevel Isolation() const override { return core::IsolationLevel::kNamespaces; }
  // Makes a sandbox in an empty directory and takes it down again.
  [[nodiscard]] core::Availability Probe() const override;
  base::Result<std::unique_ptr<core::Sandbox>> Create(const core::SandboxSpec& spec) override;

 private:
  launcher::ProgramPaths programs_;
};

}  // namespace skerry::backends::native
