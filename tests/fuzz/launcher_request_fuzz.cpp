// The messages between a launcher, its client and an init, fed with any bytes.
//
// The rule, whatever the fields are: bytes that decode are the only encoding of that message. Encoding the message
// gives the same bytes, and with a byte more or less they are no message at all.
//
// With --seeds=DIR the program writes one file for each kind of message into DIR and ends; fuzzing starts from those.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/protocol.hpp"

namespace {

namespace launcher = skerry::launcher;

[[noreturn]] void Break(const char* decoder, const char* rule) {
  std::fprintf(stderr, "%s: %s\n", decoder, rule);
  std::abort();
}

template <class Decode>
void Check(const char* name, Decode decode, std::string_view bytes) {
  const auto message = decode(bytes);
  if (!message) return;
  const std::string encoded = launcher::Encode(*message);
  if (encoded != bytes) Break(name, "a message was encoded to other bytes than it was decoded from");
  const auto again = decode(encoded);
  if (!again || launcher::Encode(*again) != encoded) Break(name, "an encoded message did not decode to itself");
  if (decode(bytes.substr(0, bytes.size() - 1))) Break(name, "a message without its last byte was accepted");
  if (decode(encoded + '\0')) Break(name, "a message with a byte too many was accepted");
}

// A path of the longest allowed size, so that the fuzzer tries the limit from both sides.
std::string Path(std::size_t size) {
  return "/" + std::string(size - 1, 'p');
}

std::vector<std::string> StartRequests() {
  launcher::StartRequest empty;
  empty.memory_bytes = 512ULL << 20U;
  empty.pids = 256;
  launcher::StartRequest layered = empty;
  layered.workspace = launcher::WorkspaceKind::kLayered;
  layered.workspace_path = "/home/person/work";
  layered.workspace_owner = launcher::WorkspaceOwner::kPerson;
  layered.root_path = "/var/lib/image/rootfs";
  layered.binds = {{"/srv/models", "/models", skerry::os::Access::kReadOnly}, {"/srv/out", "/out", {}}};
  layered.hidden = {"/workspace/.env", "/workspace/keys"};
  launcher::StartRequest plain = empty;
  plain.isolation = launcher::Isolation::kNone;
  plain.workspace = launcher::WorkspaceKind::kDirect;
  plain.workspace_path = Path(4095);
  plain.scratch_path = "/tmp/skerry-scratch-0123456789abcdef";
  std::vector<std::string> seeds;
  for (const auto& request : {empty, layered, plain}) seeds.push_back(launcher::Encode(launcher::ToLauncher{request}));
  seeds.push_back(launcher::Encode(launcher::ToLauncher{launcher::ActivityRequest{32'000}}));
  seeds.push_back(launcher::Encode(launcher::ToLauncher{launcher::ForkRequest{"python"}}));
  seeds.push_back(launcher::Encode(launcher::ToLauncher{launcher::SignalRequest{1234, 2}}));
  return seeds;
}

std::vector<std::string> Answers() {
  launcher::Started started;
  started.init_pid = 4321;
  started.counters = {0, 1, 2, 3};
  started.groups.memory = {skerry::os::CgroupVersion::kOne, "/sys/fs/cgroup/memory/skerry-1-2-3"};
  started.groups.pids = {skerry::os::CgroupVersion::kTwo, Path(4095)};
  started.degraded = {"cgroup memory: not available to this user", "", "landlock: not in this kernel"};
  launcher::Failed failed;
  failed.code = skerry::base::Code::kUnavailable;
  failed.message = "set-up step failed: set up /proc: Operation not permitted";
  launcher::Usage usage;
  usage.memory_peak_bytes = 1ULL << 30U;
  launcher::Ended ended;
  ended.usage = usage;
  std::vector<std::string> seeds;
  for (const launcher::FromLauncher& answer :
       std::vector<launcher::FromLauncher>{started, launcher::Started{}, failed, usage, ended,
                                           launcher::Forked{0, "no"}, launcher::ForkEnded{4321, 9, 1'500}})
    seeds.push_back(launcher::Encode(answer));
  return seeds;
}

std::vector<std::string> Commands() {
  launcher::CommandRequest command;
  command.id = 1;
  command.directory = "/workspace";
  command.arguments = {"python3", "-c", "print(6*7)"};
  command.environment = {"PATH=/usr/bin:/bin", "EMPTY="};
  launcher::CommandRequest interactive = command;
  interactive.terminal = launcher::TerminalSize{24, 80};
  launcher::CommandEnded ended;
  ended.id = 1;
  ended.wait_status = 256;
  return {launcher::Encode(launcher::ToInit{command}),
          launcher::Encode(launcher::ToInit{interactive}),
          launcher::Encode(launcher::ToInit{launcher::CommandSignal{1, 2}}),
          launcher::Encode(launcher::ZygoteOffer{"python", {"/usr/bin/python3", "-I"}, {"LANG=C.UTF-8"}}),
          launcher::Encode(launcher::FromInit{ended}),
          launcher::Encode(launcher::FromInit{launcher::TerminalOpened{1}})};
}

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds = {launcher::Encode(launcher::ToLauncher{launcher::UsageRequest{}}),
                                    launcher::Encode(launcher::ToLauncher{launcher::StopRequest{}})};
  for (const auto& more : {StartRequests(), Answers(), Commands()}) seeds.insert(seeds.end(), more.begin(), more.end());
  return seeds;
}

// A seed that no decoder understands would be useless.
bool IsUnderstood(std::string_view bytes) {
  return launcher::DecodeToLauncher(bytes) || launcher::DecodeFromLauncher(bytes) || launcher::DecodeToInit(bytes) ||
         launcher::DecodeFromInit(bytes) || launcher::DecodeZygoteOffer(bytes);
}

bool WriteSeeds(const std::string& directory) {
  int number = 0;
  for (const std::string& seed : Seeds()) {
    if (!IsUnderstood(seed)) Break("seed", std::to_string(number).c_str());
    std::ofstream file(directory + "/seed-" + std::to_string(number++), std::ios::binary);
    if (!(file << seed).flush()) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view kFlag = "--seeds=";
  for (const std::string_view argument : std::vector<std::string_view>(*argv, *argv + *argc))
    if (argument.starts_with(kFlag)) std::exit(WriteSeeds(std::string(argument.substr(kFlag.size()))) ? 0 : 1);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Check("DecodeToLauncher", launcher::DecodeToLauncher, bytes);
  Check("DecodeFromLauncher", launcher::DecodeFromLauncher, bytes);
  Check("DecodeToInit", launcher::DecodeToInit, bytes);
  Check("DecodeZygoteOffer", launcher::DecodeZygoteOffer, bytes);
  Check("DecodeFromInit", launcher::DecodeFromInit, bytes);
  return 0;
}
