#include "cli/private_place.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/sha256.hpp"
#include "cli/command.hpp"
#include "os/errno_error.hpp"
#include "os/file_lock.hpp"
#include "os/files.hpp"

namespace skerry::cli {
namespace {

constexpr char kSocket[] = ".sock";
constexpr char kHidden[] = ".leaving";
constexpr char kOrigin[] = ".origin";

bool IsPrivateTo(const struct stat& facts, uid_t user) {
  return S_ISDIR(facts.st_mode) && facts.st_uid == user && (facts.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

// The runtime directory of this user, or "" when there is none: su and sudo may leave another user's.
std::string RuntimeDirectory() {
  const char* path = std::getenv("XDG_RUNTIME_DIR");
  struct stat facts{};
  const bool usable = path != nullptr && path[0] == '/' && ::stat(path, &facts) == 0 && IsPrivateTo(facts, ::geteuid());
  return usable ? path : "";
}

base::Result<std::string> DirectoryPath() {
  if (const std::string runtime = RuntimeDirectory(); !runtime.empty()) return runtime + "/skerry";
  const std::string home = Context::Home();
  if (home.empty())
    return base::Err(base::Code::kUnavailable, "there is no home directory to keep contexts in; set HOME");
  const std::string parent = home + "/.skerry";
  if (::mkdir(parent.c_str(), S_IRWXU) < 0 && errno != EEXIST) return os::ErrnoErr("make directory " + parent);
  return parent + "/run";
}

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

const sockaddr* Generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
}

bool PeerIsThisUser(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

base::Result<base::UniqueFd> MakeSocket() {
  base::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return os::ErrnoErr("socket");
  return socket;
}

}  // namespace

base::Result<PrivatePlace> PrivatePlace::Open() {
  constexpr std::size_t kDigits = 16;
  PrivatePlace place;
  SKERRY_ASSIGN_OR_RETURN(place.path_, DirectoryPath());
  if (::mkdir(place.path_.c_str(), S_IRWXU) < 0 && errno != EEXIST)
    return os::ErrnoErr("make directory " + place.path_);
  place.directory_ = base::UniqueFd(::open(place.path_.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!place.directory_.valid()) return os::ErrnoErr("directory " + place.path_);
  struct stat facts{};
  if (::fstat(place.directory_.get(), &facts) < 0) return os::ErrnoErr("directory " + place.path_);
  if (!IsPrivateTo(facts, ::geteuid()))
    return base::Err(base::Code::kPermissionDenied,
                     place.path_ + ": must be yours and closed to all others; chmod 700 it, or remove it");
  SKERRY_ASSIGN_OR_RETURN(const std::string program, os::ReadLink(AT_FDCWD, "/proc/self/exe"));
  const std::string directory = std::filesystem::path(program).parent_path().string();
  place.name_ = "contexts-" + base::Sha256Hex(directory).substr(0, kDigits);
  // Daemons with different places do not share the directory: each has its own record.
  const std::string home = Context::Home();
  place.state_ = (home.empty() ? place.path_ : home + "/.skerry/contexts") + "/" +
                 base::Sha256Hex(place.path_ + "\n" + directory).substr(0, kDigits);
  return place;
}

// Paths of sockets must be short: through the open directory this one always is, and it is in the directory that was
// checked.
std::string PrivatePlace::SocketPath() const {
  return "/proc/self/fd/" + std::to_string(directory_.get()) + "/" + Name(kSocket);
}

base::Result<base::UniqueFd> PrivatePlace::Connect() const {
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd socket, MakeSocket());
  const sockaddr_un address = AddressOf(SocketPath());
  while (::connect(socket.get(), Generic(address), sizeof address) < 0) {
    if (errno == EINTR) continue;
    if (errno == ENOENT || errno == ECONNREFUSED) return base::Err(base::Code::kNotFound, "there are no contexts");
    return os::ErrnoErr("connect to the daemon of contexts");
  }
  if (!PeerIsThisUser(socket.get()))
    return base::Err(base::Code::kPermissionDenied, "the daemon of contexts is another user's");
  return socket;
}

base::Result<base::UniqueFd> PrivatePlace::Lock(base::Deadline deadline) const {
  return os::LockFile(directory_.get(), Name(".lock").c_str(), os::LockMode::kExclusive, deadline);
}

base::Result<base::UniqueFd> PrivatePlace::LockLife(base::Deadline deadline) const {
  return os::LockFile(directory_.get(), Name(".alive").c_str(), os::LockMode::kExclusive, deadline);
}

base::Result<base::UniqueFd> PrivatePlace::Listen(const PrivateOrigin& origin) const {
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd socket, MakeSocket());
  Remove();
  const base::UniqueFd file(::openat(directory_.get(), Name(kOrigin).c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.valid()) return os::ErrnoErr("write in " + path_);
  SKERRY_RETURN_IF_ERROR(os::WriteAll(file.get(), origin.program + "\n" + origin.configuration + "\n"));
  // A socket file gets the mode that its descriptor has before bind: it never has another one.
  if (::fchmod(socket.get(), S_IRUSR | S_IWUSR) < 0) return os::ErrnoErr("chmod the socket");
  const sockaddr_un address = AddressOf(SocketPath());
  if (::bind(socket.get(), Generic(address), sizeof address) < 0) return os::ErrnoErr("bind in " + path_);
  if (::listen(socket.get(), kPrivateBacklog) < 0) return os::ErrnoErr("listen");
  return socket;
}

void PrivatePlace::Remove() const {
  (void)::unlinkat(directory_.get(), Name(kSocket).c_str(), 0);
  RemoveHidden();
}

void PrivatePlace::RemoveHidden() const {
  (void)::unlinkat(directory_.get(), Name(kHidden).c_str(), 0);
}

void PrivatePlace::Hide() const {
  (void)::renameat(directory_.get(), Name(kSocket).c_str(), directory_.get(), Name(kHidden).c_str());
}

void PrivatePlace::Show() const {
  (void)::renameat(directory_.get(), Name(kHidden).c_str(), directory_.get(), Name(kSocket).c_str());
}

PrivateOrigin PrivatePlace::Origin() const {
  constexpr std::size_t kMost = 4096;
  const base::UniqueFd file(::openat(directory_.get(), Name(kOrigin).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  const auto text = file.valid() ? os::ReadAll(file.get(), kMost) : base::Result<std::string>();
  if (!text) return {};
  const std::size_t first = text->find('\n');
  const std::size_t second = first == std::string::npos ? first : text->find('\n', first + 1);
  if (second == std::string::npos) return {};
  return {.program = text->substr(0, first), .configuration = text->substr(first + 1, second - first - 1)};
}

unsigned long PrivatePlace::Socket() const {
  struct stat facts{};
  const bool there = ::fstatat(directory_.get(), Name(kSocket).c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0;
  return there && S_ISSOCK(facts.st_mode) ? facts.st_ino : 0;
}

std::string ProgramIdentity() {
  struct stat facts{};
  if (::stat("/proc/self/exe", &facts) < 0) return "";
  return std::to_string(facts.st_dev) + ":" + std::to_string(facts.st_ino) + ":" +
         std::to_string(facts.st_mtim.tv_sec) + "." + std::to_string(facts.st_mtim.tv_nsec);
}

}  // namespace skerry::cli
