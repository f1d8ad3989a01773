#include "cli/context_client.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <nlohmann/json.hpp>

#include "json/text.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "os/spawn.hpp"

namespace skerry::cli {
namespace {

using std::chrono_literals::operator""s;

constexpr auto kLockPatience = 10s;
constexpr auto kHelloPatience = 20s;
constexpr int kAttempts = 3;  // a keeper may end just when somebody knocks
constexpr int kListenerFd = 3;
// Seconds, for tests.
constexpr char kIdleVariable[] = "SKERRY_KEEPER_IDLE";

std::vector<std::string> KeeperArguments(const Context& context) {
  std::vector<std::string> arguments = {"skerry"};
  if (context.config_path) {
    arguments.emplace_back("--config");
    arguments.push_back(std::filesystem::absolute(*context.config_path).string());
  }
  arguments.emplace_back("context-keeper");
  if (const char* idle = std::getenv(kIdleVariable); idle != nullptr && *idle != '\0') {
    arguments.emplace_back("--idle");
    arguments.emplace_back(idle);
  }
  return arguments;
}

// A process of the background: no terminal, nothing open but the socket.
base::Status SpawnKeeper(const std::string& program, const std::vector<std::string>& arguments, int listener) {
  os::SpawnPlan plan(os::Lead::kSession);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) plan.PlaceNull(fd);
  plan.Place(listener, kListenerFd);
  SKERRY_RETURN_IF_ERROR(plan.Spawn(program, arguments));
  return {};
}

base::Result<base::UniqueFd> StartKeeper(const KeeperPlace& place, const Context& context) {
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd lock, place.Lock(base::Deadline::After(kLockPatience)));
  // Somebody else may have been faster.
  if (auto socket = place.Connect(); socket || socket.error().code != base::Code::kNotFound) return socket;
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd listener, place.Listen());
  // By its own name, so that people see what it is; a program that was replaced has only the link.
  SKERRY_ASSIGN_OR_RETURN(std::string program, os::ReadLink(AT_FDCWD, "/proc/self/exe"));
  if (!std::filesystem::exists(program)) program = "/proc/self/exe";
  if (auto spawned = SpawnKeeper(program, KeeperArguments(context), listener.get()); !spawned) {
    place.Remove();
    return std::unexpected(std::move(spawned).error());
  }
  return place.Connect();
}

base::Code CodeNamed(const std::string& name) {
  const auto table = base::CodeTable();
  const auto* row = std::ranges::find(table, name, &base::CodeRow::name).base();
  return row != table.data() + table.size() ? row->code : base::Code::kInternal;
}

base::Result<KeeperClient::Json> Understand(const std::string& text) {
  auto word = json::Parse(text);
  if (!word.is_object()) return base::Err(base::Code::kInternal, "the keeper of contexts says what makes no sense");
  const auto error = word.find("error");
  if (error == word.end() || !error->is_object()) return word;
  return base::Err(CodeNamed(error->value("code", "")), error->value("message", ""));
}

std::unexpected<base::Error> Gone() {
  return base::Err(base::Code::kUnavailable, "the keeper of contexts has ended, and its contexts with it");
}

}  // namespace

base::Result<KeeperClient> KeeperClient::Open(const Context& context, Start start) {
  SKERRY_ASSIGN_OR_RETURN(const KeeperPlace place, KeeperPlace::Open());
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto socket = place.Connect();
    if (!socket && socket.error().code == base::Code::kNotFound && start == Start::kIfNeeded)
      socket = StartKeeper(place, context);
    if (!socket) return std::unexpected(std::move(socket).error());
    KeeperClient client(std::move(*socket));
    const auto hello = client.Hear(base::Deadline::After(kHelloPatience));
    if (!hello) continue;
    client.program_ = hello->value("program", "");
    return client;
  }
  return base::Err(base::Code::kUnavailable, "the keeper of contexts does not answer; skerry doctor may tell why");
}

bool KeeperClient::IsAnotherBuild() const {
  return program_ != ProgramIdentity();
}

base::Status KeeperClient::Ask(const Json& request) {
  const auto sent = SendFrame(socket_.get(), json::Text(request), base::Deadline::After(kHelloPatience));
  if (sent || sent.error().code == base::Code::kTooLarge) return sent;
  return Gone();
}

base::Result<KeeperClient::Json> KeeperClient::Hear(base::Deadline deadline) {
  SKERRY_ASSIGN_OR_RETURN(const auto text, reader_->Next(deadline));
  return text ? Understand(*text) : Gone();
}

base::Result<std::optional<KeeperClient::Json>> KeeperClient::HearNow() {
  auto text = reader_->Take();
  if (!text) {
    const bool there = reader_->Fill();
    text = reader_->Take();
    if (!text && !there) return Gone();
  }
  if (!text) return std::optional<Json>();
  SKERRY_ASSIGN_OR_RETURN(Json word, Understand(*text));
  return std::optional(std::move(word));
}

base::Status KeeperClient::AwaitEnd(base::Deadline deadline) {
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const auto text, reader_->Next(deadline));
    if (!text) return {};
  }
}

}  // namespace skerry::cli
