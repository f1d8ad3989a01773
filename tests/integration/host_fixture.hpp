// A Host with the native sandbox and the real stores, on directories of its own.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "backends/native/native_backend.hpp"
#include "core/session_name.hpp"
#include "engine/host.hpp"
#include "store/sqlite_record_store.hpp"
#include "store/sqlite_service_store.hpp"
#include "support/temporary_directory.hpp"

namespace skerry {

// What a daemon has besides its sockets. Members in build-up order.
struct Daemon {
  core::BackendRegistry registry;
  std::optional<engine::SandboxManager> manager;
  base::WorkerPool workers;
  std::unique_ptr<engine::Host> host;
};

class HostTest : public testing::Test {
 protected:
  using HostedSession = std::shared_ptr<engine::HostedSession>;
  using Run = std::shared_ptr<engine::Run>;

  // Nothing is started, and no thread made, before the first call: a test may fork first.
  engine::Host& TheHost() {
    if (!daemon_) {
      auto started = StartDaemon();
      if (!started) ADD_FAILURE() << started.error().message;
      daemon_ = std::move(started).value();
    }
    return *daemon_->host;
  }

  [[nodiscard]] base::Result<std::unique_ptr<Daemon>> StartDaemon() const {
    auto daemon = std::make_unique<Daemon>();
    SKERRY_RETURN_IF_ERROR(AddBackends(daemon->registry));
    daemon->manager.emplace(daemon->registry, Managing());
    engine::HostOptions options = options_;
    std::filesystem::create_directories(home_ / "state");
    std::filesystem::permissions(home_ / "state", std::filesystem::perms::owner_all);
    options.state_directory = (home_ / "state").string();
    options.sessions.base_dir = (home_ / "workspaces").string();
    SKERRY_ASSIGN_OR_RETURN(options.store, store::SqliteServiceStore::Open((home_ / "record.db").string(), {}));
    SKERRY_ASSIGN_OR_RETURN(options.record, store::SqliteRecordStore::Open((home_ / "record.db").string(), {}));
    options.recorder = {.store = options.record, .by = "test"};
    SKERRY_ASSIGN_OR_RETURN(daemon->host, engine::Host::Start(std::move(options), *daemon->manager, daemon->workers));
    return daemon;
  }

  // The backends of the daemon, and how it chooses among them.
  [[nodiscard]] virtual base::Status AddBackends(core::BackendRegistry& registry) const {
    SKERRY_ASSIGN_OR_RETURN(const auto programs, launcher::ProgramPaths::BesideThisProgram());
    return registry.Add(std::make_unique<backends::native::NativeBackend>(programs));
  }
  [[nodiscard]] virtual engine::ManagerOptions Managing() const { return {}; }

  HostedSession Session(const std::string& id, const engine::SessionSettings& settings = {}) {
    return SessionOf(kAlice, id, settings);
  }
  HostedSession SessionOf(const engine::Principal& principal, const std::string& id,
                          const engine::SessionSettings& settings = {}) {
    auto made = TheHost().Create(principal, {.name = id, .settings = settings});
    if (!made) ADD_FAILURE() << made.error().message;
    return made ? made->session : nullptr;
  }

  [[nodiscard]] static engine::Work Shell(const HostedSession& session, std::string code) {
    return {.session = session,
            .request = {.code = std::move(code), .language = core::Language::kShell},
            .consent = engine::Consent::kGiven};
  }
  // A run that may still be going on.
  Run Begin(engine::Work work) {
    auto begun = TheHost().Execute(kAlice, std::move(work), engine::Place::kBeside);
    if (!begun) ADD_FAILURE() << begun.error().message;
    return begun ? begun->run : nullptr;
  }
  Run Begin(const HostedSession& session, std::string code) { return Begin(Shell(session, std::move(code))); }
  // A run that is over.
  Run Do(engine::Work work) {
    auto begun = TheHost().Execute(kAlice, std::move(work), engine::Place::kHere);
    if (!begun) ADD_FAILURE() << begun.error().message;
    return begun ? begun->run : nullptr;
  }
  Run Do(const HostedSession& session, std::string code) { return Do(Shell(session, std::move(code))); }
  // The output of a run, or the message of its error.
  std::string Says(const HostedSession& session, std::string code) { return Text(Do(session, std::move(code))); }

  static std::string Text(const Run& run, core::Stream stream = core::Stream::kStdout) {
    if (run->end() && run->end()->error) return run->end()->error->message;
    auto reader = run->Output(0);
    if (!reader) return reader.error().message;
    return engine::OutputLog::All(std::move(*reader), stream, 1U << 20U).value_or("unreadable");
  }
  static std::string OutcomeOf(const Run& run, std::chrono::seconds patience = std::chrono::seconds(20)) {
    if (!run->Await(base::Deadline::After(patience), {})) return "under way";
    return run->end()->Outcome();
  }
  static std::string Until(const std::string& file) { return "until [ -e " + file + " ]; do sleep 0.02; done; "; }

  static bool Eventually(const std::function<bool()>& holds, std::chrono::seconds patience = std::chrono::seconds(20)) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!holds()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
  }

  // A file as programs see it now.
  static std::string Seen(const HostedSession& session, const std::string& path) {
    std::string text;
    const auto looked = session->life().Read([&](const workspace::AgentWorkspace& files) -> base::Status {
      SKERRY_ASSIGN_OR_RETURN(text, files.Read(path, {}, 4096));
      return {};
    });
    return looked ? text : "error: " + std::string(base::RowOf(looked.error().code).name);
  }
  static base::Status Write(const HostedSession& session, const std::string& path, const std::string& text) {
    return session->life().Change([&](engine::Session& files) -> base::Status {
      SKERRY_RETURN_IF_ERROR(files.Write(path, text));
      return {};
    });
  }
  // Where the files of a session of this name are, or would be if there is no such session.
  [[nodiscard]] std::filesystem::path Place(const std::string& name, const std::string& path = "") const {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(home_ / "workspaces", none))
      if (core::NameOfSession(entry.path().filename().string()) == name) return entry.path() / path;
    return home_ / "workspaces" / name / path;
  }
  [[nodiscard]] std::string OnDisk(const std::string& workspace, const std::string& path) const {
    std::ostringstream text;
    text << std::ifstream(Place(workspace, path)).rdbuf();
    return text.str();
  }

  const engine::Principal kAlice{.id = "alice", .tenant = "a"};
  const engine::Principal kBob{.id = "bob", .tenant = "b"};
  const engine::Principal kOwner{.id = "owner", .tenant = "local", .scopes = {core::TokenScope::kAdmin}};

  support::TemporaryDirectory directory_;
  std::filesystem::path home_ = directory_.path();
  engine::HostOptions options_;  // set before the first use of TheHost
  std::unique_ptr<Daemon> daemon_;
};

}  // namespace skerry
