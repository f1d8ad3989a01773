#include "launcher/mount_plan.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "os/files.hpp"

namespace skerry::launcher {
namespace {

using Steps = std::vector<MountStep>;
constexpr std::uint64_t kUsualTmpBytes = 64U << 20U;
constexpr os::BindOptions kPrograms = {.access = os::Access::kReadOnly, .execute = os::Execute::kAllowed};
constexpr os::BindOptions kSettings = {.access = os::Access::kReadOnly, .execute = os::Execute::kForbidden};
constexpr os::BindOptions kDevice = {
    .access = os::Access::kReadWrite, .execute = os::Execute::kForbidden, .devices = true};

void Directory(Steps& steps, std::string target) {
  steps.push_back({.kind = StepKind::kDirectory, .target = std::move(target)});
}

void File(Steps& steps, std::string target, std::string data) {
  steps.push_back({.kind = StepKind::kFile, .target = std::move(target), .data = std::move(data)});
}

void Link(Steps& steps, std::string target, std::string source) {
  steps.push_back({.kind = StepKind::kLink, .source = std::move(source), .target = std::move(target)});
}

void Tmpfs(Steps& steps, std::string target, const os::BindOptions& options, const std::string& data) {
  steps.push_back({.kind = StepKind::kTmpfs, .target = std::move(target), .data = data, .options = options});
}

void BindHost(Steps& steps, const std::string& path, const os::BindOptions& options, Missing missing) {
  steps.push_back(
      {.kind = StepKind::kBind, .source = path, .target = path.substr(1), .options = options, .missing = missing});
}

// On today's systems /bin and /lib are links into /usr and are made again as links; on older ones they are directories.
base::Status Programs(Steps& steps) {
  BindHost(steps, "/usr", kPrograms, Missing::kFail);
  for (const std::string_view name : {"bin", "sbin", "lib", "lib32", "lib64", "libx32"}) {
    const std::string path = "/" + std::string(name);
    SKERRY_ASSIGN_OR_RETURN(std::string target, LinkTarget(AT_FDCWD, path));
    if (target.empty()) {
      BindHost(steps, path, kPrograms, Missing::kSkip);
    } else {
      Link(steps, std::string(name), std::move(target));
    }
  }
  return {};
}

// Written anew rather than taken from the host: programs must not see its users, its hosts and its resolver (A22, H14).
constexpr std::array<std::pair<const char*, const char*>, 6> kOwnSettings = {
    {{"etc/passwd",
      "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\nagent:x:1000:1000:agent:/home/agent:/bin/bash\n"
      "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
     {"etc/group", "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n"},
     {"etc/hosts", "127.0.0.1 localhost skerry\n::1 localhost\n"},
     {"etc/hostname", "skerry\n"},
     {"etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"},
     {"etc/resolv.conf", ""}}};

void Settings(Steps& steps) {
  Directory(steps, "etc");
  for (const auto& [target, text] : kOwnSettings) File(steps, target, text);
  for (const char* path :
       {"/etc/ld.so.cache",     "/etc/ld.so.conf",      "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime",
        "/etc/timezone",        "/etc/mime.types",      "/etc/inputrc",      "/etc/fonts",        "/etc/os-release",
        "/etc/debian_version",  "/etc/magic",           "/etc/services",     "/etc/protocols",    "/etc/manpath.config",
        "/etc/maven",           "/etc/java-11-openjdk", "/etc/python3",      "/etc/python3.11",   "/etc/python3.13",
        "/etc/java-17-openjdk", "/etc/java-21-openjdk", "/etc/perl",         "/etc/matplotlibrc"})
    BindHost(steps, path, kSettings, Missing::kSkip);
  Directory(steps, "etc/ssl");  // certificates, not private keys
  BindHost(steps, "/etc/ssl/certs", kSettings, Missing::kSkip);
  BindHost(steps, "/etc/ssl/openssl.cnf", kSettings, Missing::kSkip);
  BindHost(steps, "/etc/ca-certificates.conf", kSettings, Missing::kSkip);
}

// Directories that a sandbox has of its own, even when a root file system has them too.
bool IsOwnName(std::string_view name) {
  constexpr std::array<std::string_view, 10> kOwn = {"dev",  "proc", "sys", "tmp",        "run",
                                                     "home", "mnt",  "srv", "lost+found", kWorkspaceTarget};
  return std::ranges::find(kOwn, name) != kOwn.end();
}

// Entry by entry, so that directories that the root file system lacks can be made beside them.
void RootFileSystem(Steps& steps, int tree, const std::vector<RootEntry>& entries) {
  Directory(steps, kStageTarget);
  steps.push_back({.kind = StepKind::kTree, .target = kStageTarget, .options = kPrograms, .tree = tree});
  for (const RootEntry& entry : entries) {
    if (IsOwnName(entry.name)) continue;
    if (!entry.link.empty()) {
      Link(steps, entry.name, entry.link);
    } else {
      steps.push_back({.kind = StepKind::kBind,
                       .source = std::string(kStageTarget) + "/" + entry.name,
                       .target = entry.name,
                       .options = kPrograms});
    }
  }
  steps.push_back({.kind = StepKind::kUnmount, .target = kStageTarget});
  for (const auto& [target, text] : kOwnSettings)
    steps.push_back({.kind = StepKind::kCover, .target = target, .data = text});
}

void Devices(Steps& steps) {
  Directory(steps, "dev");
  Tmpfs(steps, "dev", kSettings, "mode=755,size=64k,nr_inodes=64");
  for (const char* path : {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"})
    BindHost(steps, path, kDevice, Missing::kFail);
  Directory(steps, "dev/pts");
  Link(steps, "dev/ptmx", "pts/ptmx");
  Link(steps, "dev/fd", "/proc/self/fd");
  Link(steps, "dev/stdin", "/proc/self/fd/0");
  Link(steps, "dev/stdout", "/proc/self/fd/1");
  Link(steps, "dev/stderr", "/proc/self/fd/2");
  Directory(steps, "dev/shm");
}

// Directories on which file systems of the sandbox will be mounted.
void MountPoints(Steps& steps) {
  for (const char* name :
       {"proc", "tmp", "home", "home/agent", "run", "root", "var", "opt", "srv", kStageTarget, kWorkspaceTarget})
    Directory(steps, name);
}

// Hides what /proc shows of the machine (B08, B09), and makes read-only what must not be written (B04, B05).
void Processes(Steps& steps) {
  steps.push_back({.kind = StepKind::kProcess, .target = "proc"});
  for (const char* name : {"acpi", "asound", "bus", "driver", "fs", "irq", "pressure", "scsi", "tty"})
    steps.push_back({.kind = StepKind::kMaskDirectory, .target = std::string("proc/") + name});
  for (const char* name :
       {"buddyinfo",     "cgroups",     "cmdline",     "config.gz",  "consoles",    "crypto",        "devices",
        "diskstats",     "dma",         "execdomains", "interrupts", "iomem",       "ioports",       "kallsyms",
        "kcore",         "key-users",   "keys",        "kmsg",       "kpagecgroup", "kpagecount",    "kpageflags",
        "latency_stats", "locks",       "misc",        "modules",    "mtrr",        "pagetypeinfo",  "partitions",
        "sched_debug",   "schedstat",   "slabinfo",    "softirqs",   "swaps",       "sysrq-trigger", "timer_list",
        "timer_stats",   "vmallocinfo", "zoneinfo"})
    steps.push_back({.kind = StepKind::kMaskFile, .target = std::string("proc/") + name});
  // The kernel counts these against the user who made the user namespace, so a program could use up the allowance of
  // the host's user; and no program inside needs namespaces (C03).
  constexpr std::array<std::pair<const char*, const char*>, 7> kAllowances = {{{"max_inotify_instances", "16"},
                                                                               {"max_inotify_watches", "16384"},
                                                                               {"max_user_namespaces", "0"},
                                                                               {"max_pid_namespaces", "0"},
                                                                               {"max_net_namespaces", "0"},
                                                                               {"max_ipc_namespaces", "0"},
                                                                               {"max_uts_namespaces", "0"}}};
  for (const auto& [name, value] : kAllowances)
    steps.push_back({.kind = StepKind::kSetting, .target = std::string("proc/sys/user/") + name, .data = value});
  // Limits the kernel memory of one socket, which not every machine counts as memory of the program.
  for (const char* name : {"tcp_rmem", "tcp_wmem"})
    steps.push_back(
        {.kind = StepKind::kSetting, .target = std::string("proc/sys/net/ipv4/") + name, .data = "4096 65536 131072"});
  steps.push_back({.kind = StepKind::kMaskFile, .target = "proc/sys/kernel/random/boot_id"});
  steps.push_back({.kind = StepKind::kReadOnly, .target = "proc/sys"});
}

// The directories on the way to `target`, which is relative.
void Parents(Steps& steps, const std::string& target) {
  for (std::size_t at = target.find('/'); at != std::string::npos; at = target.find('/', at + 1))
    Directory(steps, target.substr(0, at));
}

void Binds(Steps& steps, const std::vector<HostBind>& binds, int first_tree) {
  for (const HostBind& bind : binds) {
    const std::string target = bind.target.substr(1);
    Parents(steps, target);
    steps.push_back({.kind = StepKind::kTree,
                     .target = target,
                     .options = {.access = bind.access, .execute = os::Execute::kAllowed},
                     .tree = first_tree++});
  }
}

std::string Sized(std::uint64_t bytes, std::uint64_t inodes) {
  return ",size=" + std::to_string(bytes) + ",nr_inodes=" + std::to_string(inodes);
}

void Writable(Steps& steps, std::uint64_t tmp_bytes) {
  constexpr std::uint64_t kInodes = 16'384;
  const std::string size = Sized(tmp_bytes, kInodes);
  Tmpfs(steps, "tmp", kPrograms, "mode=1777" + size);
  Tmpfs(steps, "home/agent", kPrograms, "mode=700" + size);
  Tmpfs(steps, "dev/shm", kSettings, "mode=1777" + size);
}

void Workspace(Steps& steps, const StartRequest& request) {
  const std::string options = "mode=755" + Sized(request.disk_bytes, request.disk_inodes);
  switch (request.workspace) {
    case WorkspaceKind::kEmpty:
      steps.push_back({.kind = StepKind::kEmptyWorkspace, .target = kWorkspaceTarget, .data = options});
      return;
    case WorkspaceKind::kLayered:
      steps.push_back({.kind = StepKind::kLayeredWorkspace,
                       .target = kWorkspaceTarget,
                       .data = options,
                       .options = kPrograms,
                       .tree = 0});
      return;
    case WorkspaceKind::kDirect:
      steps.push_back({.kind = StepKind::kTree,
                       .target = kWorkspaceTarget,
                       .options = {.access = os::Access::kReadWrite},
                       .tree = 0});
      return;
  }
}

}  // namespace

base::Result<std::string> LinkTarget(int directory, const std::string& name) {
  auto target = os::ReadLink(directory, name);
  if (target) return target;
  const base::Code code = target.error().code;
  return code == base::Code::kInvalidArgument || code == base::Code::kNotFound ? base::Result<std::string>("") : target;
}

base::Result<RootPlan> PlanRoot(const StartRequest& request, const std::vector<RootEntry>& root) {
  RootPlan plan;
  int tree = request.workspace == WorkspaceKind::kEmpty ? 0 : 1;
  if (request.root_path.empty()) {
    SKERRY_RETURN_IF_ERROR(Programs(plan.shared));
    Settings(plan.shared);
  } else {
    RootFileSystem(plan.shared, tree++, root);
  }
  Devices(plan.shared);
  plan.shared.push_back({.kind = StepKind::kSeal, .target = "dev"});
  MountPoints(plan.shared);
  if (request.root_path.empty()) Link(plan.shared, "var/tmp", "/tmp");
  Processes(plan.fixed);
  plan.fixed.push_back({.kind = StepKind::kTerminals, .target = "dev/pts"});
  Writable(plan.own, request.tmp_bytes);
  Binds(plan.own, request.binds, tree);
  Workspace(plan.own, request);
  return plan;
}

base::Result<std::vector<MountStep>> PlanTemplate() {
  SKERRY_ASSIGN_OR_RETURN(RootPlan plan, PlanRoot({}, {}));
  plan.shared.push_back({.kind = StepKind::kProcess, .target = "proc"});
  return std::move(plan.shared);
}

std::vector<MountStep> PlanVacancy() {
  Steps steps;
  Processes(steps);
  steps.push_back({.kind = StepKind::kTerminals, .target = "dev/pts"});
  Writable(steps, kUsualTmpBytes);
  return steps;
}

std::vector<MountStep> PlanFurnishing(const StartRequest& request) {
  Steps steps;
  if (request.tmp_bytes != kUsualTmpBytes) {
    Writable(steps, request.tmp_bytes);
    for (MountStep& step : steps) step.kind = StepKind::kResize;
  }
  Workspace(steps, request);
  return steps;
}

bool FitsTemplate(const StartRequest& request) {
  return request.isolation == Isolation::kNamespaces && request.root_path.empty() && request.binds.empty() &&
         request.hidden.empty();
}

}  // namespace skerry::launcher
