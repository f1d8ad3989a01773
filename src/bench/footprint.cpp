#include "bench/footprint.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <sstream>
#include <thread>

#include "os/cgroup_hierarchy.hpp"
#include "os/directory.hpp"
#include "os/files.hpp"
#include "os/process_tree.hpp"

namespace skerry::bench {
namespace {

constexpr std::size_t kProcLimit = 1U << 20U;
constexpr double kMegabyte = 1048576.0;

std::string Proc(pid_t pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

// The value of "Name:   123 kB" in a file of /proc.
std::uint64_t Kilobytes(const std::string& path, std::string_view name) {
  const auto text = os::ReadFile(path, kProcLimit);
  const std::size_t at = text ? text->find(name) : std::string::npos;
  if (at == std::string::npos) return 0;
  std::istringstream stream(text->substr(at + name.size()));
  std::uint64_t value = 0;
  stream >> value;
  return value;
}

std::uint64_t MemoryOf(pid_t pid) {
  const std::uint64_t share = Kilobytes(Proc(pid, "smaps_rollup"), "\nPss:");
  return 1024 * (share != 0 ? share : Kilobytes(Proc(pid, "status"), "VmRSS:"));
}

std::uint64_t EntriesOf(const std::string& path, std::string_view prefix) {
  const os::Directory directory(::opendir(path.c_str()));
  if (directory == nullptr) return 0;
  std::uint64_t count = 0;
  while (const dirent* entry = ::readdir(directory.get()))
    if (!os::IsDots(entry->d_name) && std::string_view(entry->d_name).starts_with(prefix)) ++count;
  return count;
}

// User and system time of a process and of its children that it has waited for.
std::uint64_t TicksOf(pid_t pid) {
  const auto text = os::ReadFile(Proc(pid, "stat"), kProcLimit);
  const std::size_t at = text ? text->rfind(')') : std::string::npos;
  if (at == std::string::npos) return 0;
  std::istringstream stream(text->substr(at + 2));
  std::string skipped;
  for (int i = 0; i < 11; ++i) stream >> skipped;
  std::uint64_t sum = 0;
  for (int i = 0; i < 4; ++i) {
    std::uint64_t ticks = 0;
    stream >> ticks;
    sum += ticks;
  }
  return sum;
}

ino_t PidNamespaceOf(pid_t pid) {
  struct stat facts{};
  return ::stat(Proc(pid, "ns/pid").c_str(), &facts) == 0 ? facts.st_ino : 0;
}

std::string NameOf(pid_t pid) {
  auto name = os::ReadFile(Proc(pid, "comm"), kProcLimit).value_or("");
  name.resize(std::min(name.size(), name.find('\n')));
  return name;
}

double AvailableMegabytes() {
  return static_cast<double>(Kilobytes("/proc/meminfo", "MemAvailable:")) / 1024;
}

constexpr auto kLookAt = std::chrono::seconds(3);

base::Result<Footprint> Measure(Stand& stand, core::Preload preload, std::string kind, std::size_t count) {
  const double available = AvailableMegabytes();
  const ProcessFacts before = ProcessFacts::Look();
  std::vector<std::unique_ptr<core::Sandbox>> parked;
  for (std::size_t i = 0; i < count; ++i) {
    SKERRY_ASSIGN_OR_RETURN(auto sandbox, stand.Park(preload));
    parked.push_back(std::move(sandbox));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const ProcessFacts after = ProcessFacts::Look();
  Footprint footprint{.kind = std::move(kind), .parked = count};
  if (count > 0) {
    const auto inside = static_cast<double>(after.inside_bytes) - static_cast<double>(before.inside_bytes);
    footprint.user_mb = inside / kMegabyte / static_cast<double>(count);
    footprint.system_mb = (available - AvailableMegabytes()) / static_cast<double>(count);
  }
  const std::uint64_t ticks = ProcessFacts::Look().cpu_ticks;
  std::this_thread::sleep_for(kLookAt);
  const auto used = static_cast<double>(ProcessFacts::Look().cpu_ticks - ticks);
  footprint.cpu_percent =
      100.0 * used / static_cast<double>(::sysconf(_SC_CLK_TCK)) / std::chrono::duration<double>(kLookAt).count();
  return footprint;
}

}  // namespace

ProcessFacts ProcessFacts::Look() {
  ProcessFacts facts;
  const pid_t self = ::getpid();
  const ino_t own_namespace = PidNamespaceOf(self);
  for (const pid_t pid : os::ProcessTree(self)) {
    // This process pays for looking, which is no cost of waiting.
    if (pid != self) facts.cpu_ticks += TicksOf(pid);
    const std::uint64_t memory = MemoryOf(pid);
    if (pid == self) {
      facts.own_bytes = memory;
      facts.own_descriptors = EntriesOf(Proc(pid, "fd"), "");
    } else if (NameOf(pid) == "skerry-launcher") {
      facts.launcher_bytes += memory;
      facts.launcher_descriptors += EntriesOf(Proc(pid, "fd"), "");
    } else if (PidNamespaceOf(pid) == own_namespace) {
      facts.zygote_bytes += memory;
    } else {
      facts.inside_bytes += memory;
    }
  }
  for (const os::CgroupMount& mount : os::CgroupHierarchy::Detect().mounts)
    facts.cgroups += EntriesOf(mount.directory, "skerry-");
  return facts;
}

base::Result<std::vector<Footprint>> MeasureFootprints(Stand& stand) {
  struct Row {
    core::Preload preload;
    const char* kind;
  };
  constexpr std::array kRows = {Row{core::Preload::kNone, "no interpreter"}, Row{core::Preload::kShell, "shell"},
                                Row{core::Preload::kPython, "python"},
                                Row{core::Preload::kPythonData, "python with pandas"},
                                Row{core::Preload::kJavaScript, "node"}};
  std::vector<Footprint> all;
  for (const Row& row : kRows) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{10}, std::size_t{100}}) {
      if (count == 0 && row.preload != core::Preload::kNone) continue;
      SKERRY_ASSIGN_OR_RETURN(Footprint footprint, Measure(stand, row.preload, row.kind, count));
      all.push_back(std::move(footprint));
    }
  }
  return all;
}

std::string ToTable(const std::vector<Footprint>& footprints) {
  std::string text = "parked  with                  MB each (processes)  MB each (machine)  CPU idle\n";
  for (const Footprint& row : footprints) {
    std::array<char, 160> line{};
    std::snprintf(line.data(), line.size(), "%6lu  %-20s  %19.2f  %17.2f  %6.2f %%\n",
                  static_cast<unsigned long>(row.parked), row.kind.c_str(), row.user_mb, row.system_mb,
                  row.cpu_percent);
    text += line.data();
  }
  return text;
}

}  // namespace skerry::bench
