#include "bin/skerry/backends.hpp"

#include <cstdlib>

#include "backends/native/native_backend.hpp"
#include "backends/subprocess/subprocess_backend.hpp"
#include "base/feature.hpp"
#include "launcher/client.hpp"

namespace skerry::bin {
namespace {

constexpr char kScratchBase[] = "/tmp";

// Hides features of the machine, to see what a weaker machine offers. It never makes anything more permissive.
base::Result<base::FeatureSet> PretendedMissing() {
  const char* hidden = std::getenv("SKERRY_PRETEND_MISSING");
  const auto missing = base::ParseFeatures(hidden != nullptr ? hidden : "");
  if (missing) return *missing;
  return base::Err(base::Code::kInvalidArgument,
                   "SKERRY_PRETEND_MISSING: use userns, landlock, cgroups and overlay, separated by commas");
}

}  // namespace

std::vector<std::string> BackendNames() {
  return {std::string(backends::native::kName), std::string(backends::subprocess::kName)};
}

base::Result<std::unique_ptr<core::BackendRegistry>> MakeBackends(cli::Warmth warmth,
                                                                  const config::Sandbox& /*settings*/) {
  SKERRY_ASSIGN_OR_RETURN(const launcher::ProgramPaths programs, launcher::ProgramPaths::BesideThisProgram());
  SKERRY_ASSIGN_OR_RETURN(const base::FeatureSet pretend_missing, PretendedMissing());
  // For daemons, which have threads that wait for disks while programs run.
  std::shared_ptr<const launcher::Lifeline> lifeline;
  if (warmth == cli::Warmth::kWarm) {
    SKERRY_ASSIGN_OR_RETURN(lifeline, launcher::Lifeline::Begin());
  }
  auto registry = std::make_unique<core::BackendRegistry>();
  using Native = backends::native::NativeBackend;
  const auto zygotes = warmth == cli::Warmth::kWarm ? Native::Zygotes::kPython : Native::Zygotes::kNone;
  SKERRY_RETURN_IF_ERROR(registry->Add(std::make_unique<Native>(programs, pretend_missing, zygotes, lifeline)));
  SKERRY_RETURN_IF_ERROR(
      registry->Add(std::make_unique<backends::subprocess::SubprocessBackend>(programs, kScratchBase, lifeline)));
  return registry;
}

}  // namespace skerry::bin
