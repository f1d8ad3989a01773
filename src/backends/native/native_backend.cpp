#include "backends/native/native_backend.hpp"

#include "runner/launched_sandbox.hpp"

namespace skerry::backends::native {
namespace {

runner::LaunchProfile Profile(std::shared_ptr<launcher::Launcher> launcher, base::FeatureSet pretend_missing) {
  return {.launcher = std::move(launcher),
          .isolation = launcher::Isolation::kNamespaces,
          .scratch = {},
          .directory = "/workspace",
          .home = "/home/agent",
          .temporary = "/tmp",
          .pretend_missing = pretend_missing};
}

}  // namespace

core::Availability NativeBackend::Probe() const {
  runner::LaunchedSandbox sandbox(Profile(launcher_, pretend_missing_), {});
  if (const auto started = sandbox.Start(); !started) return {false, started.error().message};
  std::string detail = "namespaces, empty root, Landlock, seccomp, cgroups";
  for (const std::string& line : sandbox.Degraded()) detail += "; " + line;
  return {true, detail};
}

base::Result<std::unique_ptr<core::Sandbox>> NativeBackend::Create(const core::SandboxSpec& spec) {
  return std::make_unique<runner::LaunchedSandbox>(Profile(launcher_, pretend_missing_), spec);
}

}  // namespace skerry::backends::native
