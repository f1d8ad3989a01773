#include "workspace/persons_directory.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <string_view>

#include "os/errno_error.hpp"
#include "os/files.hpp"

namespace skerry::workspace {
namespace {

// Writing below these changes the machine or other people's data; reading there shows secrets.
constexpr std::array<std::string_view, 12> kSystem = {"/bin",  "/boot", "/dev",  "/etc", "/lib", "/lib64",
                                                      "/proc", "/run",  "/sbin", "/sys", "/usr", "/var"};
// These directories themselves, but not those below them.
constexpr std::array<std::string_view, 9> kTops = {"/",    "/home", "/root",  "/tmp",    "/opt",
                                                   "/srv", "/mnt",  "/media", "/var/tmp"};
// Keys and passwords, in the home of any user.
constexpr std::array<std::string_view, 7> kPrivate = {".ssh",    ".gnupg",          ".aws",  ".kube",
                                                      ".docker", ".password-store", ".netrc"};
// In the caller's home: settings of programs that start when the person logs in, and such programs.
constexpr std::array<std::string_view, 2> kOwnPrograms = {"/.config", "/.local/bin"};

bool IsOrIsBelow(std::string_view path, std::string_view directory) {
  return path == directory || (path.starts_with(directory) && path[directory.size()] == '/');
}

std::string HomeDirectory() {
  const passwd* entry = ::getpwuid(::getuid());
  return entry == nullptr ? "" : entry->pw_dir;
}

base::Status Refuse(const std::string& path, std::string_view why) {
  return base::Err(base::Code::kPermissionDenied, path + ": " + std::string(why));
}

base::Status CheckHome(const std::string& path) {
  constexpr std::string_view kWhy = "holds what nobody else should see";
  for (const std::string_view name : kPrivate)
    if ((path + "/").find("/" + std::string(name) + "/") != std::string::npos) return Refuse(path, kWhy);
  const std::string home = HomeDirectory();
  if (home.empty()) return {};
  if (path == home) return Refuse(path, "is a whole home; choose a directory in it");
  for (const std::string_view name : kOwnPrograms)
    if (IsOrIsBelow(path, home + std::string(name))) return Refuse(path, kWhy);
  return {};
}

}  // namespace

base::Status CheckPlace(const std::string& path, const std::vector<std::string>& own) {
  for (const std::string& directory : own) {
    if (IsOrIsBelow(path, directory) || IsOrIsBelow(directory, path))
      return Refuse(path, "overlaps with Skerry's own " + directory);
  }
  if (std::ranges::find(kTops, path) != kTops.end())
    return Refuse(path, "holds more than one program should see; choose a directory below it");
  const bool system = std::ranges::any_of(kSystem, [&](std::string_view top) { return IsOrIsBelow(path, top); });
  if (system && !IsOrIsBelow(path, "/var/tmp"))
    return Refuse(path, "is a directory of the system; choose one for the program alone");
  return CheckHome(path);
}

base::Result<std::string> PathOf(int fd) {
  return os::ReadLink(AT_FDCWD, "/proc/self/fd/" + std::to_string(fd));
}

base::Result<OpenedDirectory> OpenPersonsDirectory(const std::string& path, const std::vector<std::string>& own) {
  const int fd = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 && errno == ENOTDIR)
    return base::Err(base::Code::kInvalidArgument, "workspace " + path + ": not a directory");
  if (fd < 0) return os::ErrnoErr("workspace " + path);
  OpenedDirectory directory{base::UniqueFd(fd), {}};
  SKERRY_ASSIGN_OR_RETURN(directory.path, PathOf(directory.fd.get()));
  if (const auto fits = CheckPlace(directory.path, own); !fits)
    return base::Err(fits.error().code, "workspace " + fits.error().message);
  if (::syscall(SYS_faccessat2, directory.fd.get(), "", R_OK | W_OK | X_OK, AT_EMPTY_PATH) < 0)
    return os::ErrnoErr("workspace " + path);
  return directory;
}

}  // namespace skerry::workspace
