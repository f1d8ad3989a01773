#include "cli/private_daemon.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/sha256.hpp"
#include "cli/answer.hpp"
#include "cli/terminal.hpp"
#include "config/show.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "os/pidfd.hpp"
#include "os/spawn.hpp"

namespace skerry::cli {
namespace {

using Json = DaemonClient::Json;
using std::chrono_literals::operator""s;

constexpr auto kLockPatience = 30s;
constexpr auto kEndPatience = 60s;
constexpr int kListenerFd = 3;
// Seconds, for tests.
constexpr char kIdleVariable[] = "SKERRY_CONTEXTS_IDLE";
constexpr char kDefaultIdle[] = "1800";

base::Result<PrivateOrigin> OriginOf(const Context& context) {
  SKERRY_ASSIGN_OR_RETURN(const config::Loaded loaded, context.LoadConfig());
  return PrivateOrigin{.program = ProgramIdentity(), .configuration = base::Sha256Hex(config::ShowJson(loaded))};
}

std::vector<std::string> Arguments(const Context& context) {
  std::vector<std::string> arguments = {"skerry"};
  if (context.config_path) {
    arguments.emplace_back("--config");
    arguments.push_back(std::filesystem::absolute(*context.config_path).string());
  }
  const char* idle = std::getenv(kIdleVariable);
  for (const char* word : {"serve", "--on-demand", idle != nullptr && *idle != '\0' ? idle : kDefaultIdle})
    arguments.emplace_back(word);
  return arguments;
}

// Starts a background process: no terminal, nothing open but the socket.
base::Status Spawn(const Context& context, int listener) {
  // By the program's own name, which people see in ps; a program that was replaced has only the link.
  SKERRY_ASSIGN_OR_RETURN(std::string program, os::ReadLink(AT_FDCWD, "/proc/self/exe"));
  if (!std::filesystem::exists(program)) program = "/proc/self/exe";
  os::SpawnPlan plan(os::Lead::kSession);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) plan.PlaceNull(fd);
  plan.Place(listener, kListenerFd);
  SKERRY_RETURN_IF_ERROR(plan.Spawn(program, Arguments(context)));
  return {};
}

// Needs the lock.
base::Status Start(const PrivatePlace& place, const Context& context, const PrivateOrigin& origin) {
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd listener, place.Listen(origin));
  const auto spawned = Spawn(context, listener.get());
  if (!spawned) place.Remove();
  return spawned;
}

// The process that listens: the last one that called listen on the socket.
base::Result<os::PidFd> ListenerAt(const PrivatePlace& place) {
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd socket, place.Connect());
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) return os::ErrnoErr("peer of a socket");
  return os::PidFd::Open(peer.pid);
}

base::Result<std::vector<std::string>> ContextNames(DaemonClient& client) {
  const auto answer = client.Ask("GET", std::string("/v1/sessions/") + PrivateDaemon::kSession + "/contexts");
  if (!answer && answer.error().code == base::Code::kNotFound) return std::vector<std::string>();
  if (!answer) return std::unexpected(answer.error());
  std::vector<std::string> names;
  for (const Json& item : ListIn(*answer, "items")) names.push_back(TextIn(item, "name"));
  return names;
}

}  // namespace

base::Error PrivateDaemonEnded() {
  return {base::Code::kUnavailable, "the daemon of contexts has ended, and its contexts with it"};
}

PrivateDaemon::PrivateDaemon(PrivatePlace place)
    : place_(std::move(place)),
      client_(net::Endpoint{.kind = net::Endpoint::Kind::kUnix, .path = place_.SocketPath()}) {}

base::Result<PrivateDaemon> PrivateDaemon::Find() {
  SKERRY_ASSIGN_OR_RETURN(PrivatePlace place, PrivatePlace::Open());
  SKERRY_RETURN_IF_ERROR(place.Connect());
  return PrivateDaemon(std::move(place));
}

base::Result<PrivateDaemon> PrivateDaemon::Need(const Context& context, const std::string& wanted) {
  SKERRY_ASSIGN_OR_RETURN(const PrivateOrigin origin, OriginOf(context));
  SKERRY_ASSIGN_OR_RETURN(PrivatePlace place, PrivatePlace::Open());
  auto there = place.Connect();
  if (!there && there.error().code != base::Code::kNotFound) return std::unexpected(std::move(there).error());
  if (there && place.Origin() == origin) return PrivateDaemon(std::move(place));
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd lock, place.Lock(base::Deadline::After(kLockPatience)));
  // Another command may have been faster.
  there = place.Connect();
  const PrivateOrigin found = place.Origin();
  PrivateDaemon daemon(std::move(place));
  if (there && found == origin) return daemon;
  if (there && found.program != origin.program)
    return base::Err(base::Code::kConflict,
                     "the contexts are kept by another build of skerry; skerry context stop ends it and them");
  if (there) {
    SKERRY_ASSIGN_OR_RETURN(const auto names, ContextNames(daemon.client_));
    if (!names.empty()) {
      if (std::ranges::find(names, wanted) == names.end())
        Note(
            "the configuration has changed since the contexts began, and holds when they have ended; skerry context "
            "stop ends them");
      return daemon;
    }
    SKERRY_RETURN_IF_ERROR(daemon.Stop());
  }
  SKERRY_RETURN_IF_ERROR(Start(daemon.place_, context, origin));
  return daemon;
}

base::Status PrivateDaemon::Stop() {
  // Until the daemon answers, the listening process may be the client that starts it.
  SKERRY_RETURN_IF_ERROR(client_.Ask("GET", "/v1/health"));
  SKERRY_ASSIGN_OR_RETURN(const os::PidFd process, ListenerAt(place_));
  SKERRY_RETURN_IF_ERROR(process.Signal(SIGTERM));
  SKERRY_ASSIGN_OR_RETURN(const bool ended, process.WaitForExit(base::Deadline::After(kEndPatience)));
  if (ended) return {};
  return base::Err(base::Code::kTimeout, "the daemon of contexts does not end");
}

base::Result<PrivateDoor> PrivateDoor::Take() {
  ::prctl(PR_SET_NAME, "skerry-contexts");
  // Closes descriptors that the client which started the daemon had open.
  ::close_range(kListenerFd + 1, ~0U, 0);
  // listen makes this process the one that clients see at the socket.
  if (::fcntl(kListenerFd, F_SETFD, FD_CLOEXEC) < 0 || ::listen(kListenerFd, kPrivateBacklog) < 0)
    return base::Err(base::Code::kInvalidArgument, "--on-demand is for skerry itself; see skerry context --help");
  SKERRY_ASSIGN_OR_RETURN(PrivatePlace place, PrivatePlace::Open());
  if (::chdir("/") < 0) return os::ErrnoErr("chdir /");
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd life, place.LockLife(base::Deadline::After(kLockPatience)));
  return PrivateDoor(std::move(place), base::UniqueFd(kListenerFd), std::move(life));
}

bool PrivateDoor::Hide() {
  if (lock_.valid()) return true;
  auto lock = place_.Lock(base::Deadline::After(0s));
  if (!lock) return false;
  lock_ = *std::move(lock);
  if (IsReachable()) place_.Hide();
  return true;
}

void PrivateDoor::Show() {
  place_.Show();
  lock_.Reset();
}

void PrivateDoor::Leave() {
  if (lock_.valid()) place_.RemoveHidden();
}

}  // namespace skerry::cli
