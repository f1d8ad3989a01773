// What is said between a backend, the launcher and the init of a sandbox. One message per packet.
//
// - backend → launcher, on the socket it was started with: kConnect with one end of a socket pair. That pair is for one
//   sandbox; everything below happens on it. Its end is the sandbox's end.
// - backend → launcher: StartRequest with the host's directories it names, open; then ActivityRequest before each
//   command and UsageRequest and FreezeRequest as often as wanted; ForkRequest and SignalRequest for what zygotes make;
//   then StopRequest.
// - launcher → backend: Started with the socket to init and the views of the workspace, or Failed; Usage; Motion; at
//   the end Ended.
// - backend → init: CommandRequest with stdin, stdout, stderr and up to two more for 3 and 4, as the program wants them
//   (a file with its text, a channel); or with a terminal and only those.
// - backend → init: CommandSignal and TreeKill, for what runs.
// - init → backend: TerminalOpened with its other end, when one was asked for; TreeToKill; CommandEnded.
#pragma once

#include <signal.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "base/feature.hpp"
#include "os/group_usage.hpp"
#include "os/mounts.hpp"

namespace skerry::launcher {

enum class Isolation : std::uint8_t {
  kNamespaces,  // the native sandbox
  kNone,        // the subprocess backend: no namespaces, the rest of the fence
};

// Whose directory the workspace is. A directory of Skerry's may be given to the sandbox's user; a person's keeps its
// owner.
enum class WorkspaceOwner : std::uint8_t { kSkerry, kPerson };

enum class WorkspaceKind : std::uint8_t {
  kEmpty,    // an empty file system of a limited size, gone with the sandbox
  kLayered,  // a directory below, and a layer of a limited size above it that takes all changes
  kDirect,   // a directory as it is
};

// What to do when the machine cannot keep a limit that was asked for: say so in `degraded` and go on, or refuse.
enum class Demand : std::uint8_t { kWhatIsPossible, kEverything };

// A file or directory of the host that appears inside.
struct HostBind {
  std::string source;  // absolute; the descriptor that comes along must be the same file
  std::string target;  // absolute, as seen from inside
  os::Access access = os::Access::kReadOnly;
};

// Comes with these descriptors, in this order: the workspace unless it is empty, the root if there is one, the binds.
struct StartRequest {
  Isolation isolation = Isolation::kNamespaces;
  WorkspaceKind workspace = WorkspaceKind::kEmpty;
  std::string workspace_path;  // absolute; unless it is empty
  WorkspaceOwner workspace_owner = WorkspaceOwner::kSkerry;
  std::string root_path;             // an unpacked root file system; "" for the programs of the host
  std::vector<HostBind> binds;       // beside the programs and the workspace
  std::vector<std::string> hidden;   // absolute, as seen from inside: there, and not to be read
  std::string scratch_path;          // without namespaces: stands in for /tmp and the home directory
  base::FeatureSet pretend_missing;  // for tests of what happens on a weaker machine
  Demand demand = Demand::kEverything;
  std::uint64_t memory_bytes = 0;
  std::uint64_t pids = 0;
  std::uint64_t cpu_percent = 0;
  std::uint64_t open_files = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t tmp_bytes = 0;
  std::uint64_t disk_bytes = 0;  // of the workspace's own layer
  std::uint64_t disk_inodes = 0;
};

// A program is about to run in the sandbox. There is no answer. Before the first ActivityRequest nothing in the sandbox
// is watched.
struct ActivityRequest {
  std::uint64_t lifetime_ms = 0;  // after this the launcher ends the sandbox even if its client is stopped; 0 for never
};

// A child of the zygote of this kind is to enter the sandbox, with the four descriptors that come along as its stdin,
// stdout, stderr and channel. Answered by Forked, in the order of the requests, and by ForkEnded when the child has
// ended.
struct ForkRequest {
  std::string zygote;
};

// A signal for such a child and its process group.
struct SignalRequest {
  std::uint64_t pid = 0;
  std::uint64_t signal = 0;
};

struct UsageRequest {};

// Every process of the sandbox is to stop where it is, or to go on. Answered by Motion at once, with how far that has
// come; the client asks again until it is so.
enum class MotionKind : std::uint8_t { kMoving, kFrozen, kUnable };
struct FreezeRequest {
  MotionKind wanted = MotionKind::kFrozen;
};
struct StopRequest {};

// Comes with the socket to the init; unless the workspace is direct, with two directories: its changes, and the whole
// workspace as programs see it; and with the counters of the sandbox's cgroup.
struct Started {
  std::uint64_t init_pid = 0;
  std::vector<std::uint64_t>
      counters;            // kinds of the counters that come along; without counters the client sends UsageRequest
  os::GroupPlaces groups;  // directories from which the sandbox's use can be read as well
  std::vector<std::string> degraded;  // what the machine lacks and what that costs, one line each
};

struct Failed {
  base::Code code = base::Code::kInternal;
  std::string message;
};

// What the sandbox used since it was made; zero where the machine does not count.
struct Usage {
  std::uint64_t out_of_memory_kills = 0;
  std::uint64_t memory_peak_bytes = 0;
  std::uint64_t forks_refused = 0;
  std::uint64_t times_throttled = 0;
};

struct Motion {
  MotionKind now = MotionKind::kMoving;
};

struct Ended {
  Usage usage;
  std::uint64_t processes_left = 0;  // 0 is the proof that the group is empty
};

struct Forked {
  std::uint64_t pid = 0;  // 0 when no child was made
  std::string why;        // why no child was made
};

struct ForkEnded {
  std::uint64_t pid = 0;
  std::uint64_t wait_status = 0;
  std::uint64_t cpu_microseconds = 0;  // with that of children it had waited for
};

struct TerminalSize {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
};

struct CommandRequest {
  std::uint64_t id = 0;
  std::optional<TerminalSize> terminal;  // of the sandbox's own, in place of three descriptors
  std::string directory;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // "NAME=value", the whole of it
};

// A signal for a running command and its process group.
struct CommandSignal {
  std::uint64_t id = 0;
  std::uint64_t signal = 0;
};

// Kills a command with everything it started: its descendants, its session and theirs. There is no answer but the end
// of the command itself.
struct TreeKill {
  std::uint64_t id = 0;
};

// What a command could not do before it became its program.
enum class StartStep : std::uint8_t { kProgram, kDirectory };

struct CommandEnded {
  std::uint64_t id = 0;
  std::uint64_t start_error = 0;  // errno when the program could not be started
  StartStep failed_step = StartStep::kProgram;
  std::uint64_t wait_status = 0;
  std::uint64_t user_microseconds = 0;
  std::uint64_t system_microseconds = 0;
};

struct TerminalOpened {
  std::uint64_t id = 0;
};

// Without namespaces the fence hides other processes from the init: the init asks the client to kill the tree whose
// first process, a child of the init, is `pid`.
struct TreeToKill {
  std::uint64_t pid = 0;
};

// A message on the launcher's own socket; comes with one end of a socket pair. The other messages there are ZygoteOffer
// and kKeepVacancies: sandboxes shall be made ahead, as there will be many; and kLifeline, with the end of a pipe: when
// its other end is closed, the backend's process is dying, and everything shall end.
inline constexpr std::string_view kConnect = "+";
inline constexpr std::string_view kKeepVacancies = "*";
inline constexpr std::string_view kLifeline = "!";

// A program that loads an interpreter once and then forks into sandboxes. Comes with a library that does the forking,
// at descriptor 4, and a text, at 5. The program is started when it is first asked for.
struct ZygoteOffer {
  std::string name;
  std::vector<std::string> arguments;  // the first is the program's absolute path
  std::vector<std::string> environment;
};

// The first word of the init on its socket, to the launcher: everything is in place.
inline constexpr std::string_view kInitReady = "!";
// This signal tells an init without a pid namespace to kill all that it started, and to end; the kernel sends it when
// the launcher has died.
inline constexpr int kEndSignal = SIGTERM;

using ToInit = std::variant<CommandRequest, CommandSignal, TreeKill>;
using FromInit = std::variant<TerminalOpened, CommandEnded, TreeToKill>;
using ToLauncher =
    std::variant<StartRequest, ActivityRequest, ForkRequest, SignalRequest, UsageRequest, FreezeRequest, StopRequest>;
using FromLauncher = std::variant<Started, Failed, Forked, ForkEnded, Usage, Motion, Ended>;

std::string Encode(const ToLauncher& message);
std::string Encode(const FromLauncher& message);
std::string Encode(const ToInit& message);
std::string Encode(const ZygoteOffer& message);
std::string Encode(const FromInit& message);

// Nothing for bytes that are not exactly one well-formed message with values in range.
std::optional<ToLauncher> DecodeToLauncher(std::string_view bytes);
std::optional<FromLauncher> DecodeFromLauncher(std::string_view bytes);
std::optional<ToInit> DecodeToInit(std::string_view bytes);
std::optional<ZygoteOffer> DecodeZygoteOffer(std::string_view bytes);
std::optional<FromInit> DecodeFromInit(std::string_view bytes);

}  // namespace skerry::launcher
