#include "backends/native/native_backend.hpp"

#include "interpreters/worker.hpp"
#include "runner/launched_sandbox.hpp"

namespace skerry::backends::native {
namespace {

runner::LaunchProfile Profile(std::shared_ptr<launcher::Launcher> launcher, std::vector<std::string> zygotes,
                              base::FeatureSet pretend_missing) {
  return {.launcher = std::move(launcher),
          .zygotes = std::move(zygotes),
          .isolation = launcher::Isolation::kNamespaces,
          .scratch = {},
          .directory = "/workspace",
          .home = "/home/agent",
          .temporary = "/tmp",
          .pretend_missing = pretend_missing};
}

}  // namespace

NativeBackend::NativeBackend(launcher::ProgramPaths programs, base::FeatureSet pretend_missing, Zygotes zygotes,
                             std::shared_ptr<const launcher::Lifeline> lifeline)
    : pretend_missing_(pretend_missing) {
  std::vector<launcher::Launcher::Zygote> offers;
  if (zygotes == Zygotes::kPython) {
    for (interpreters::ZygoteProgram& program : interpreters::PythonZygotes()) {
      zygotes_.push_back(program.name);
      offers.push_back(
          {{program.name, std::move(program.arguments), std::move(program.environment)}, std::move(program.text)});
    }
  }
  launcher_ = std::make_shared<launcher::Launcher>(
      std::move(programs), std::move(offers),
      zygotes == Zygotes::kPython ? launcher::Launcher::Ahead::kSandboxes : launcher::Launcher::Ahead::kNothing,
      std::move(lifeline));
}

core::Abilities NativeBackend::Can() const {
  return {.strength = core::Strength::kNamespaces,
          .workspace = core::WorkspaceKind::kLayered,
          .images = core::ImageKind::kRootFileSystem,
          .contexts = true,
          .terminals = true,
          .pause = true,
          .binds = true,
          .cpu_quota = true,
          .preload = true};
}

core::Availability NativeBackend::Probe(base::Deadline deadline) {
  runner::LaunchedSandbox sandbox(Profile(launcher_, zygotes_, pretend_missing_), {});
  if (const auto started = sandbox.Start(deadline, {}); !started) return {false, started.error().message};
  std::string detail = "namespaces, empty root, Landlock, seccomp, cgroups";
  for (const std::string& line : sandbox.Degraded()) detail += "; " + line;
  return {true, detail};
}

base::Result<std::unique_ptr<core::Sandbox>> NativeBackend::Create(const core::SandboxSpec& spec) {
  if (!spec.network.HasNone() || !spec.ports.empty() || !spec.image.empty())
    return base::Err(base::Code::kUnavailable,
                     "the native sandbox has no network, no ports and no images by name in this version");
  return std::make_unique<runner::LaunchedSandbox>(Profile(launcher_, zygotes_, pretend_missing_), spec);
}

}  // namespace skerry::backends::native
