// skerry: what this program has is wired here and nowhere else.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "backends/native/native_backend.hpp"
#include "backends/subprocess/subprocess_backend.hpp"
#include "base/feature.hpp"
#include "cli/app.hpp"
#include "launcher/client.hpp"
#include "store/sqlite_record_store.hpp"
#include "store/sqlite_service_store.hpp"

namespace {

using namespace skerry;

constexpr char kScratchBase[] = "/tmp";

base::Result<std::unique_ptr<core::BackendRegistry>> MakeBackends(cli::Warmth warmth) {
  SKERRY_ASSIGN_OR_RETURN(const launcher::ProgramPaths programs, launcher::ProgramPaths::BesideThisProgram());
  // Hides parts of the machine, to see what a weaker one gets. It never makes anything more permissive.
  const char* hidden = std::getenv("SKERRY_PRETEND_MISSING");
  const auto pretend_missing = base::ParseFeatures(hidden != nullptr ? hidden : "");
  if (!pretend_missing)
    return base::Err(base::Code::kInvalidArgument,
                     "SKERRY_PRETEND_MISSING: use userns, landlock, cgroups and overlay, separated by commas");
  auto registry = std::make_unique<core::BackendRegistry>();
  using Native = backends::native::NativeBackend;
  const auto zygotes = warmth == cli::Warmth::kWarm ? Native::Zygotes::kPython : Native::Zygotes::kNone;
  SKERRY_RETURN_IF_ERROR(registry->Add(std::make_unique<Native>(programs, *pretend_missing, zygotes)));
  SKERRY_RETURN_IF_ERROR(
      registry->Add(std::make_unique<backends::subprocess::SubprocessBackend>(programs, kScratchBase)));
  return registry;
}

base::Result<std::unique_ptr<core::RecordStore>> OpenStore(const std::string& path) {
  return store::SqliteRecordStore::Open(path, {});
}

base::Result<std::unique_ptr<core::ServiceStore>> OpenServiceStore(const std::string& path) {
  return store::SqliteServiceStore::Open(path, {});
}

// Descriptors 0 to 2 that were closed would be taken by the next files that are opened, and a program's output written
// into those.
void FillStandardDescriptors() {
  while (true) {
    const int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd > STDERR_FILENO) ::close(fd);
    if (fd < 0 || fd >= STDERR_FILENO) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  FillStandardDescriptors();
  return cli::RunApp(argc, argv,
                     {.make_backends = MakeBackends, .open_store = OpenStore, .open_service_store = OpenServiceStore});
}
