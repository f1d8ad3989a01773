#include "os/cgroup_hierarchy.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <sstream>

#include "os/files.hpp"

namespace skerry::os {
namespace {

constexpr std::size_t kProcFileLimit = 1 << 20;
constexpr std::array<std::string_view, 3> kWanted = {"memory", "pids", "cpu"};
// Version 1 counts processor time by a controller of its own, version 2 in every group.
constexpr std::array<std::string_view, 4> kWantedOfVersion1 = {"memory", "pids", "cpu", "cpuacct"};

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

// From controller ("" for version 2) to the path of this process's group in its hierarchy.
std::map<std::string, std::string> OwnGroups(std::string_view text) {
  std::map<std::string, std::string> groups;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) {
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string path = line.substr(second + 1);
    const std::string names = line.substr(first + 1, second - first - 1);
    if (names.empty()) groups[""] = path;
    for (const std::string& name : Split(names, ',')) groups[name] = path;
  }
  return groups;
}

struct MountLine {
  std::string root;
  std::string mount_point;
  std::string type;
  std::vector<std::string> super_options;
};

// "36 35 98:0 /root /mount/point rw,... shared:1 - type source super,options"
std::optional<MountLine> ParseMountLine(const std::string& line) {
  const auto dash = line.find(" - ");
  if (dash == std::string::npos) return std::nullopt;
  const std::vector<std::string> front = Split(line.substr(0, dash), ' ');
  const std::vector<std::string> back = Split(line.substr(dash + 3), ' ');
  if (front.size() < 6 || back.size() < 3) return std::nullopt;
  return MountLine{front[3], front[4], back[0], Split(back[2], ',')};
}

// This process's group as a directory, when the mount shows the part of the hierarchy in which it lies.
std::string OwnDirectory(const MountLine& line, const std::string& group) {
  std::string relative = group;
  if (line.root != "/") {
    if (!group.starts_with(line.root)) return line.mount_point;
    relative = group.substr(line.root.size());
  }
  if (relative.empty() || relative == "/") return line.mount_point;
  return line.mount_point + relative;
}

std::optional<CgroupMount> ToCgroupMount(const MountLine& line, const std::map<std::string, std::string>& groups) {
  if (line.type == "cgroup2") {
    const auto own = groups.find("");
    return CgroupMount{
        CgroupVersion::kTwo, line.mount_point, OwnDirectory(line, own == groups.end() ? "/" : own->second), {}};
  }
  if (line.type != "cgroup") return std::nullopt;
  CgroupMount mount{CgroupVersion::kOne, line.mount_point, {}, {}};
  for (const std::string_view wanted : kWantedOfVersion1) {
    const std::string name(wanted);
    if (std::ranges::find(line.super_options, name) == line.super_options.end()) continue;
    mount.controllers.push_back(name);
    const auto own = groups.find(name);
    mount.directory = OwnDirectory(line, own == groups.end() ? "/" : own->second);
  }
  if (mount.controllers.empty()) return std::nullopt;
  return mount;
}

// Only the root of the hierarchy lacks cgroup.type.
bool IsRealRoot(const std::string& directory) {
  return ::access((directory + "/cgroup.controllers").c_str(), F_OK) == 0 &&
         ::access((directory + "/cgroup.type").c_str(), F_OK) != 0;
}

// Version 2 hands controllers down only from a group without processes, or from the root. This process's own group has
// a process in it, and trying there could make it a threaded one: so the root is used where it may be written to, and
// else this process's group with the controllers that it hands down already.
void ChooseVersion2Directory(CgroupMount& mount) {
  if (IsRealRoot(mount.top) && ::access((mount.top + "/cgroup.subtree_control").c_str(), W_OK) == 0) {
    mount.directory = mount.top;
    for (const std::string_view wanted : kWanted)
      (void)WriteControlFile(mount.directory + "/cgroup.subtree_control", "+" + std::string(wanted));
  }
  const auto handed_down = ReadFile(mount.directory + "/cgroup.subtree_control", kProcFileLimit);
  if (!handed_down) return;
  for (const std::string& name : Split(handed_down->substr(0, handed_down->find('\n')), ' '))
    if (std::ranges::find(kWanted, name) != kWanted.end()) mount.controllers.push_back(name);
}

}  // namespace

bool CgroupMount::Has(std::string_view controller) const {
  return std::ranges::find(controllers, controller) != controllers.end();
}

const CgroupMount* CgroupHierarchy::Find(std::string_view controller) const {
  const auto found = std::ranges::find_if(mounts, [&](const CgroupMount& mount) { return mount.Has(controller); });
  return found == mounts.end() ? nullptr : &*found;
}

const CgroupMount* CgroupHierarchy::Version2() const {
  const auto found = std::ranges::find(mounts, CgroupVersion::kTwo, &CgroupMount::version);
  return found == mounts.end() ? nullptr : &*found;
}

CgroupHierarchy CgroupHierarchy::Parse(std::string_view mountinfo, std::string_view own_groups) {
  CgroupHierarchy hierarchy;
  const std::map<std::string, std::string> groups = OwnGroups(own_groups);
  std::istringstream stream{std::string(mountinfo)};
  for (std::string line; std::getline(stream, line);) {
    const auto parsed = ParseMountLine(line);
    if (!parsed) continue;
    if (auto mount = ToCgroupMount(*parsed, groups)) hierarchy.mounts.push_back(std::move(*mount));
  }
  return hierarchy;
}

CgroupHierarchy CgroupHierarchy::Detect() {
  const auto mountinfo = ReadFile("/proc/self/mountinfo", kProcFileLimit);
  const auto groups = ReadFile("/proc/self/cgroup", kProcFileLimit);
  if (!mountinfo || !groups) return {};
  CgroupHierarchy hierarchy = Parse(*mountinfo, *groups);
  for (CgroupMount& mount : hierarchy.mounts)
    if (mount.version == CgroupVersion::kTwo) ChooseVersion2Directory(mount);
  std::erase_if(hierarchy.mounts, [](const CgroupMount& m) { return ::access(m.directory.c_str(), W_OK) != 0; });
  return hierarchy;
}

}  // namespace skerry::os
