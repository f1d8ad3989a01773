// What is said between a backend, the launcher and the init of a sandbox. One message per packet.
//
//   backend → launcher   StartRequest (+ the workspace directory), later UsageRequest as often as wanted, then
//   StopRequest launcher → backend   Started (+ the socket to init) or Failed; Usage; at the end Ended backend → init
//   CommandRequest (+ stdin, stdout, stderr and, with program text, a sealed file that holds it) init → backend
//   CommandEnded
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.hpp"

namespace skerry::launcher {

enum class Isolation : std::uint8_t {
  kNamespaces,  // the native sandbox
  kNone,        // the subprocess backend: no namespaces, the rest of the fence
};

// Whose directory the workspace is. Ours may be given to the sandbox's user; a person's keeps its owner.
enum class WorkspaceOwner : std::uint8_t { kSkerry, kPerson };

struct StartRequest {
  Isolation isolation = Isolation::kNamespaces;
  std::string name;            // of the cgroup: letters, digits and '-'
  std::string workspace_path;  // absolute; the descriptor that comes along must be the same directory
  WorkspaceOwner workspace_owner = WorkspaceOwner::kSkerry;
  std::string scratch_path;  // without namespaces: stands in for /tmp and the home directory
  std::uint64_t memory_bytes = 0;
  std::uint64_t pids = 0;
  std::uint64_t cpu_percent = 0;
  std::uint64_t open_files = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t tmp_bytes = 0;
  std::uint64_t lifetime_ms = 0;  // after this the launcher ends it even if its client is stopped; 0 for never
};

struct UsageRequest {};
struct StopRequest {};

struct Started {
  std::uint64_t init_pid = 0;
  std::vector<std::string> degraded;  // what the machine lacks and what that costs, one line each
};

struct Failed {
  base::Code code = base::Code::kInternal;
  std::string message;
};

// Since the sandbox was made; zero where the machine does not count.
struct Usage {
  std::uint64_t out_of_memory_kills = 0;
  std::uint64_t memory_peak_bytes = 0;
  std::uint64_t forks_refused = 0;
};

struct Ended {
  Usage usage;
  std::uint64_t processes_left = 0;  // 0 is the proof that the group is empty
};

struct CommandRequest {
  std::uint64_t id = 0;
  std::string directory;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // "NAME=value", the whole of it
};

struct CommandEnded {
  std::uint64_t id = 0;
  std::uint64_t start_error = 0;  // errno when the program could not be started
  std::uint64_t wait_status = 0;
  std::uint64_t user_microseconds = 0;
  std::uint64_t system_microseconds = 0;
};

using ToLauncher = std::variant<StartRequest, UsageRequest, StopRequest>;
using FromLauncher = std::variant<Started, Failed, Usage, Ended>;

std::string Encode(const ToLauncher& message);
std::string Encode(const FromLauncher& message);
std::string Encode(const CommandRequest& message);
std::string Encode(const CommandEnded& message);

// Nothing for bytes that are not exactly one well-formed message with values in range.
std::optional<ToLauncher> DecodeToLauncher(std::string_view bytes);
std::optional<FromLauncher> DecodeFromLauncher(std::string_view bytes);
std::optional<CommandRequest> DecodeCommandRequest(std::string_view bytes);
std::optional<CommandEnded> DecodeCommandEnded(std::string_view bytes);

}  // namespace skerry::launcher
