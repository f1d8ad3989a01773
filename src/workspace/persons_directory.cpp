#include "workspace/persons_directory.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "os/errno_error.hpp"

namespace skerry::workspace {
namespace {

// Writing below these changes the machine or other people's data; reading shows secrets.
constexpr std::array<std::string_view, 12> kSystem = {"/bin",  "/boot", "/dev",  "/etc", "/lib", "/lib64",
                                                      "/proc", "/run",  "/sbin", "/sys", "/usr", "/var"};
// These themselves, but not what is below them.
constexpr std::array<std::string_view, 8> kTops = {"/", "/home", "/root", "/tmp", "/opt", "/srv", "/mnt", "/media"};

bool IsOrIsBelow(std::string_view path, std::string_view directory) {
  return path == directory || (path.starts_with(directory) && path[directory.size()] == '/');
}

std::string HomeDirectory() {
  const passwd* entry = ::getpwuid(::getuid());
  return entry == nullptr ? "" : entry->pw_dir;
}

base::Status Refuse(const std::string& path, std::string_view why) {
  return base::Err(base::Code::kPermissionDenied, "workspace " + path + ": " + std::string(why));
}

base::Status CheckPlace(const std::string& path) {
  // Temporary and state directories below /var are where services keep their data and are fine to use.
  for (const std::string_view allowed : {"/var/tmp", "/var/lib"})
    if (IsOrIsBelow(path, allowed) && path != allowed) return {};
  if (std::ranges::any_of(kSystem, [&](std::string_view system) { return IsOrIsBelow(path, system); }))
    return Refuse(path, "is a directory of the system; choose one for the program alone");
  if (std::ranges::find(kTops, path) != kTops.end() || path == HomeDirectory())
    return Refuse(path, "holds more than one program should see; choose a directory below it");
  return {};
}

}  // namespace

base::Result<std::string> ResolvePersonsDirectory(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  if (real == nullptr) return os::ErrnoErr("workspace " + path);
  std::string resolved = real.get();
  struct stat facts{};
  if (::stat(resolved.c_str(), &facts) < 0) return os::ErrnoErr("workspace " + path);
  if (!S_ISDIR(facts.st_mode))
    return base::Err(base::Code::kInvalidArgument, "workspace " + path + ": not a directory");
  SKERRY_RETURN_IF_ERROR(CheckPlace(resolved));
  if (::access(resolved.c_str(), R_OK | W_OK | X_OK) < 0) return os::ErrnoErr("workspace " + path);
  return resolved;
}

}  // namespace skerry::workspace
