#include "policy/shell_paths.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "policy/shell_rules.hpp"

namespace skerry::policy {
namespace {

constexpr std::size_t kLongestPath = 4096;

// Trees of the system: what is directly in them is needed, too.
constexpr auto kSystemTrees = std::to_array<std::string_view>(
    {"etc",  "usr",  "var", "boot", "bin", "sbin", "lib",    "lib32",   "lib64", "libx32",
     "root", "home", "dev", "proc", "sys", "run",  "System", "Library", "Users", "Applications"});
// Trees of the system in which everything, at any depth, is needed.
constexpr auto kDeepTrees =
    std::to_array<std::string_view>({"boot", "bin", "sbin", "dev", "proc", "sys", "lib", "lib64"});
// Directories whose content is temporary.
constexpr auto kPassing = std::to_array<std::string_view>({"tmp", "workspace"});

bool Contains(std::span<const std::string_view> list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

bool IsEverything(std::string_view part) {
  return part.contains('*') && part.find_first_not_of("*.?[]!^") == std::string_view::npos;
}

bool HasPattern(std::string_view part) {
  return part.find_first_of("*?[") != std::string_view::npos;
}

// Whether the pattern fits the short word.
bool MayBe(std::string_view pattern, std::string_view word) {
  while (!pattern.empty() && pattern[0] != '*') {
    const bool set = pattern[0] == '[';
    if (word.empty() || (!set && pattern[0] != '?' && pattern[0] != word[0])) return false;
    pattern.remove_prefix(set ? std::min(pattern.find(']'), pattern.size() - 1) + 1 : 1);
    word.remove_prefix(1);
  }
  if (pattern.empty()) return word.empty();
  pattern.remove_prefix(1);
  // After a star anything can follow; only the end is compared.
  return pattern.empty() || pattern.find_first_of("*?[") != std::string_view::npos || word.ends_with(pattern);
}

std::vector<std::string_view> PartsOf(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0) parts.push_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return parts;
}

bool IsRooted(std::string_view path) {
  return path.starts_with('/') || path.starts_with(kShellHome);
}

void AppendParts(std::string_view path, std::vector<std::string_view>& parts) {
  for (const std::string_view part : PartsOf(path)) {
    if (part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (parts.empty() || parts.back() == "..") {
      parts.push_back(part);
    } else {
      parts.pop_back();
    }
  }
}

bool IsSystemPlace(std::span<const std::string_view> parts) {
  const std::string_view top = parts[0];
  if (top.contains(kShellHole)) return false;
  if (top == "home" && parts.size() == 3) return true;  // directly in a person's home
  const bool system = Contains(kSystemTrees, top) || HasPattern(top);
  if (!system) return false;
  if (parts.size() == 2) return !(top == "var" && parts[1] == "tmp");
  return Contains(kDeepTrees, top);
}

}  // namespace

std::string PlainPath(std::string_view path, std::string_view directory) {
  if (path.size() > kLongestPath) return std::string(1, kShellHole);
  std::vector<std::string_view> parts;
  const std::string_view start = IsRooted(path) ? path : directory;
  const bool at_home = start.starts_with(kShellHome);
  const bool rooted = IsRooted(start);
  if (!IsRooted(path)) AppendParts(directory.substr(at_home ? 1 : 0), parts);
  AppendParts(path.starts_with(kShellHome) ? path.substr(1) : path, parts);
  // Above the root is the root; above the home are all homes.
  const auto leading = std::ranges::find_if(parts, [](std::string_view part) { return part != ".."; });
  if (rooted) parts.erase(parts.begin(), leading);
  const bool passing = !at_home && parts.size() == 2 && Contains(kPassing, parts[0]);
  if (!parts.empty() && IsEverything(parts.back()) && (rooted || parts.size() > 1) && !passing) parts.pop_back();
  std::string plain = at_home ? std::string(1, kShellHome) : std::string();
  for (const std::string_view part : parts) {
    if (!plain.empty() || rooted) plain += '/';
    plain += part;
  }
  if (plain.empty()) plain = rooted ? "/" : ".";
  return plain;
}

bool IsWholeTree(std::string_view plain_path) {
  if (!IsRooted(plain_path)) return false;
  const bool at_home = plain_path.starts_with(kShellHome);
  const std::vector<std::string_view> parts = PartsOf(at_home ? plain_path.substr(1) : plain_path);
  if (at_home || parts.empty()) return parts.empty();
  const bool is_home = parts.size() == 2 && parts[0] == "home" && !parts[1].contains(kShellHole);
  return is_home || (parts.size() == 1 && !parts[0].contains(kShellHole));
}

bool IsSystemTree(std::string_view plain_path) {
  if (!IsRooted(plain_path)) return false;
  const bool at_home = plain_path.starts_with(kShellHome);
  const std::vector<std::string_view> parts = PartsOf(at_home ? plain_path.substr(1) : plain_path);
  if (parts.size() <= 1) return parts.empty() || at_home || !parts[0].contains(kShellHole);
  return !at_home && IsSystemPlace(parts);
}

bool IsDevice(std::string_view plain_path) {
  const std::vector<std::string_view> parts = PartsOf(plain_path);
  if (plain_path.starts_with('/') && parts.size() > 1 && HasPattern(parts[0]) && MayBe(parts[0], "dev")) return true;
  if (plain_path == "/proc/sysrq-trigger" || plain_path == "/proc/kcore" || plain_path == "/proc/self/mem") return true;
  return plain_path.starts_with("/dev/") && !plain_path.starts_with("/dev/shm/") && !IsHarmlessDevice(plain_path);
}

bool IsSocket(std::string_view plain_path) {
  return plain_path.starts_with("/dev/tcp/") || plain_path.starts_with("/dev/udp/");
}

bool IsStandardInput(std::string_view path) {
  return path == "-" || path == "/dev/stdin" || path == "/dev/fd/0" || path == "/proc/self/fd/0";
}

std::string_view BaseName(std::string_view path) {
  if (!path.contains('/')) return path;  // contains is quick, rfind is not
  return path.substr(path.rfind('/') + 1);
}

}  // namespace skerry::policy
