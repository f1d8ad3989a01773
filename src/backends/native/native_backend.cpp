#include "backends/native/native_backend.hpp"

#include <unistd.h>

#include <cstdlib>

#include "os/errno_error.hpp"
#include "runner/launched_sandbox.hpp"

namespace skerry::backends::native {
namespace {

runner::LaunchProfile Profile(const launcher::ProgramPaths& programs) {
  return {.programs = programs,
          .isolation = launcher::Isolation::kNamespaces,
          .scratch = {},
          .directory = "/workspace",
          .home = "/home/agent",
          .temporary = "/tmp"};
}

// A directory that exists for the length of a probe.
class ProbeDirectory {
 public:
  ProbeDirectory() {
    std::string name = "/tmp/skerry-probe-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ProbeDirectory(const ProbeDirectory&) = delete;
  ProbeDirectory& operator=(const ProbeDirectory&) = delete;
  ~ProbeDirectory() {
    if (!path_.empty()) ::rmdir(path_.c_str());
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

core::Availability NativeBackend::Probe() const {
  const ProbeDirectory directory;
  if (directory.path().empty()) return {false, "cannot make a directory in /tmp: " + os::ErrnoText(errno)};
  runner::LaunchedSandbox sandbox(Profile(programs_), {.workspace = directory.path()});
  if (const auto started = sandbox.Start(); !started) return {false, started.error().message};
  std::string detail = "namespaces, empty root, Landlock, seccomp, cgroups";
  for (const std::string& line : sandbox.Degraded()) detail += "; " + line;
  return {true, detail};
}

base::Result<std::unique_ptr<core::Sandbox>> NativeBackend::Create(const core::SandboxSpec& spec) {
  return std::make_unique<runner::LaunchedSandbox>(Profile(programs_), spec);
}

}  // namespace skerry::backends::native
