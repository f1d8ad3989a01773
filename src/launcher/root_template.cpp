#include "launcher/root_template.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "launcher/child_report.hpp"
#include "launcher/mount_plan.hpp"
#include "launcher/root_builder.hpp"
#include "launcher/sandbox_child.hpp"
#include "os/errno_error.hpp"
#include "os/namespace.hpp"
#include "os/socket.hpp"

namespace skerry::launcher {
namespace {

using std::chrono_literals::operator""s;

constexpr auto kPatience = 10s;

std::pair<dev_t, ino_t> FileAt(const std::string& path) {
  struct stat facts{};
  return ::stat(path.c_str(), &facts) == 0 ? std::pair(facts.st_dev, facts.st_ino) : std::pair<dev_t, ino_t>();
}

// Builds the root, reports that, and stays until the launcher has closed its end or is gone.
[[noreturn]] void RunBuilder(const ChildPlan& plan) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int fd : plan.launchers_ends) ::close(fd);
  ::umask(022);
  BuildTemplate(plan);
  char none = 0;
  if (os::SendDescriptors(plan.report, "!", {}) == 0) (void)!::recv(plan.report, &none, 1, 0);
  ::_exit(0);
}

}  // namespace

const char* RootMountPoint() {
  for (const char* path : {"/tmp", "/mnt", "/run", "/var"})
    if (::access(path, F_OK) == 0) return path;
  return "/";
}

base::Result<RootTemplate> RootTemplate::Build() {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<MountStep> steps, PlanTemplate());
  SKERRY_ASSIGN_OR_RETURN(os::SocketPair report, os::SocketPair::Create());
  RootTemplate made;
  for (const MountStep& step : steps)
    if (step.kind == StepKind::kBind) made.sources_.push_back({step.source, FileAt(step.source)});
  ChildPlan plan;
  plan.report = report.second.get();
  plan.launchers_ends = {report.first.get(), -1};
  plan.shared_mounts = steps;
  plan.root_mount_point = RootMountPoint();
  // A pid namespace of its own, so that the template's /proc shows no process.
  SKERRY_ASSIGN_OR_RETURN(const os::Cloned builder, os::CloneInto(CLONE_NEWNS | CLONE_NEWPID, -1));
  if (builder.child) RunBuilder(plan);
  report.second.Reset();
  const auto word = os::ReceiveMessage(report.first.get(), base::Deadline::After(kPatience));
  const std::string path = "/proc/" + std::to_string(builder.process.pid()) + "/ns/mnt";
  if (word && word->bytes == "!") made.namespace_.Reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  report.first.Reset();
  if (!builder.process.Signal(SIGKILL)) ::kill(builder.process.pid(), SIGKILL);
  (void)builder.process.Reap();
  if (!made.namespace_.valid()) return base::Err(base::Code::kUnavailable, "cannot build the template of the root");
  return made;
}

bool RootTemplate::Current() const {
  return std::ranges::all_of(sources_, [](const Source& source) { return FileAt(source.path) == source.file; });
}

}  // namespace skerry::launcher
