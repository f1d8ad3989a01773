#include "launcher/mount_plan.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <string_view>
#include <utility>

namespace skerry::launcher {
namespace {

using Steps = std::vector<MountStep>;
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

// On today's systems /bin and /lib are links into /usr and are made again as such; on older ones they are directories.
void Programs(Steps& steps) {
  BindHost(steps, "/usr", kPrograms, Missing::kFail);
  for (const std::string_view name : {"bin", "sbin", "lib", "lib32", "lib64", "libx32"}) {
    const std::string path = "/" + std::string(name);
    std::array<char, PATH_MAX> target{};
    const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
    if (size > 0) {
      Link(steps, std::string(name), std::string(target.data(), static_cast<std::size_t>(size)));
    } else {
      BindHost(steps, path, kPrograms, Missing::kSkip);
    }
  }
}

// Written anew rather than taken from the host: its users, its hosts and its resolver are nobody's business (A22, H14).
void Settings(Steps& steps) {
  Directory(steps, "etc");
  File(steps, "etc/passwd",
       "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\nagent:x:1000:1000:agent:/home/agent:/bin/bash\n"
       "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
  File(steps, "etc/group", "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n");
  File(steps, "etc/hosts", "127.0.0.1 localhost skerry\n::1 localhost\n");
  File(steps, "etc/hostname", "skerry\n");
  File(steps, "etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n");
  File(steps, "etc/resolv.conf", "");
  for (const char* path :
       {"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime",
        "/etc/timezone", "/etc/mime.types", "/etc/inputrc", "/etc/fonts", "/etc/os-release", "/etc/debian_version",
        "/etc/magic", "/etc/python3", "/etc/python3.11", "/etc/java-17-openjdk", "/etc/java-21-openjdk", "/etc/perl"})
    BindHost(steps, path, kSettings, Missing::kSkip);
  Directory(steps, "etc/ssl");  // certificates, not private keys
  BindHost(steps, "/etc/ssl/certs", kSettings, Missing::kSkip);
  BindHost(steps, "/etc/ssl/openssl.cnf", kSettings, Missing::kSkip);
  BindHost(steps, "/etc/ca-certificates.conf", kSettings, Missing::kSkip);
}

void Devices(Steps& steps) {
  Directory(steps, "dev");
  Tmpfs(steps, "dev", kSettings, "mode=755,size=64k,nr_inodes=64");
  for (const char* path : {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"})
    BindHost(steps, path, kDevice, Missing::kFail);
  Directory(steps, "dev/pts");
  steps.push_back({.kind = StepKind::kTerminals, .target = "dev/pts"});
  Link(steps, "dev/ptmx", "pts/ptmx");
  Link(steps, "dev/fd", "/proc/self/fd");
  Link(steps, "dev/stdin", "/proc/self/fd/0");
  Link(steps, "dev/stdout", "/proc/self/fd/1");
  Link(steps, "dev/stderr", "/proc/self/fd/2");
  Directory(steps, "dev/shm");
}

// What the kernel shows of the machine and not of the process (B08, B09), and what must not be written (B04, B05).
void Processes(Steps& steps) {
  Directory(steps, "proc");
  steps.push_back({.kind = StepKind::kProcess, .target = "proc"});
  for (const char* name :
       {"acpi",        "asound",      "buddyinfo", "bus",         "cgroups",      "cmdline",    "config.gz",
        "consoles",    "crypto",      "devices",   "diskstats",   "dma",          "driver",     "execdomains",
        "fs",          "interrupts",  "iomem",     "ioports",     "irq",          "kallsyms",   "kcore",
        "key-users",   "keys",        "kmsg",      "kpagecgroup", "kpagecount",   "kpageflags", "latency_stats",
        "locks",       "misc",        "modules",   "mtrr",        "pagetypeinfo", "partitions", "pressure",
        "sched_debug", "schedstat",   "scsi",      "slabinfo",    "softirqs",     "swaps",      "sysrq-trigger",
        "timer_list",  "timer_stats", "tty",       "vmallocinfo", "zoneinfo"})
    steps.push_back({.kind = StepKind::kMask, .target = std::string("proc/") + name});
  // These are counted against whoever made the user namespace, so a program could use up what the host's user has; and
  // nothing inside needs namespaces (C03).
  constexpr std::array<std::pair<const char*, const char*>, 7> kAllowances = {{{"max_inotify_instances", "16"},
                                                                               {"max_inotify_watches", "16384"},
                                                                               {"max_user_namespaces", "0"},
                                                                               {"max_pid_namespaces", "0"},
                                                                               {"max_net_namespaces", "0"},
                                                                               {"max_ipc_namespaces", "0"},
                                                                               {"max_uts_namespaces", "0"}}};
  for (const auto& [name, value] : kAllowances)
    steps.push_back({.kind = StepKind::kSetting, .target = std::string("proc/sys/user/") + name, .data = value});
  steps.push_back({.kind = StepKind::kMask, .target = "proc/sys/kernel/random/boot_id"});
  steps.push_back({.kind = StepKind::kReadOnly, .target = "proc/sys"});
}

void Writable(Steps& steps, const MountSizes& sizes) {
  const std::string size = ",size=" + std::to_string(sizes.tmp_bytes) + ",nr_inodes=16k";
  for (const char* name : {"tmp", "home", "home/agent", "run", "root", "var", "opt", "srv", "mnt"})
    Directory(steps, name);
  Tmpfs(steps, "tmp", kPrograms, "mode=1777" + size);
  Tmpfs(steps, "home/agent", kPrograms, "mode=700" + size);
  Tmpfs(steps, "dev/shm", kSettings, "mode=1777" + size);
  Link(steps, "var/tmp", "/tmp");
  Directory(steps, kWorkspaceTarget);
  steps.push_back({.kind = StepKind::kWorkspace, .target = kWorkspaceTarget});
}

}  // namespace

std::vector<MountStep> PlanRoot(const MountSizes& sizes) {
  Steps steps;
  Programs(steps);
  Settings(steps);
  Devices(steps);
  Processes(steps);
  Writable(steps, sizes);
  return steps;
}

}  // namespace skerry::launcher
