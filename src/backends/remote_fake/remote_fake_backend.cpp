#include "backends/remote_fake/remote_fake_backend.hpp"

#include <utility>

#include "archive/byte_source.hpp"
#include "backends/fake/tiny_process.hpp"
#include "backends/fake/tiny_shell.hpp"

namespace skerry::backends::remote_fake {
namespace {

constexpr std::chrono::seconds kEndPatience{5};

// The connection to one machine; after a loss the sandbox gets another one.
struct Way {
  std::shared_ptr<Server> server;
  std::shared_ptr<Machine> machine;
};

class RemoteProcess : public core::Process {
 public:
  RemoteProcess(Way way, std::shared_ptr<Program> program, const core::Command& command, core::OutputSink& sink)
      : way_(std::move(way)),
        program_(std::move(program)),
        timeout_(command.timeout),
        deadline_(base::Deadline::After(command.timeout)),
        output_(sink, command.max_output_bytes) {}
  ~RemoteProcess() override {
    if (!awaited_) Kill();
  }

  base::Result<std::size_t> Feed(std::string_view bytes) override { return program_->input().Feed(bytes); }
  [[nodiscard]] bool AwaitRoom(base::Deadline deadline) override { return program_->input().AwaitRoom(deadline); }
  base::Status CloseInput() override { return program_->input().Close(); }
  base::Status Signal(int) override { return base::Err(base::Code::kUnavailable, "the server passes no signals on"); }
  base::Status Resize(const core::TerminalSize&) override {
    return base::Err(base::Code::kConflict, "the program has no terminal");
  }

  base::Result<core::CommandResult> Await(std::stop_token stop) override {
    awaited_ = true;
    for (;;) {
      Program::Heard heard;
      const auto polled = way_.server->Call("poll", way_.machine, deadline_, stop, [&]() -> base::Status {
        heard = program_->Poll(std::chrono::milliseconds(20));
        return {};
      });
      for (const Program::Piece& piece : heard.pieces) output_.Write(piece.stream, piece.bytes);
      if (polled && heard.end && !*heard.end) return std::unexpected(heard.end->error());
      if (polled && heard.end) return output_.Finish(**heard.end);
      if (stop.stop_requested()) return EndBy(core::EndedByStop());
      if (deadline_.Expired()) return EndBy(core::EndedByTimeout(timeout_));
      if (!polled) return Lost(polled.error());
    }
  }

 private:
  void Kill() {
    (void)way_.server->Call("kill", way_.machine, base::Deadline::After(kEndPatience), {}, [&]() -> base::Status {
      program_->Kill();
      return {};
    });
  }

  core::CommandResult EndBy(const core::Outcome& outcome) {
    Kill();
    return output_.Finish(outcome);
  }

  // When the machine is lost the outcome is kLost. When only the connection failed it is an error: the program may have
  // gone on.
  base::Result<core::CommandResult> Lost(const base::Error& error) {
    if (way_.machine->alive()) {
      Kill();
      return std::unexpected(error);
    }
    return output_.Finish(core::EndedByLoss());
  }

  Way way_;
  std::shared_ptr<Program> program_;
  std::chrono::milliseconds timeout_;
  base::Deadline deadline_;
  fake::TinyOutput output_;
  bool awaited_ = false;
};

// A source that owns its bytes.
class ReceivedBytes : public base::ByteSource {
 public:
  explicit ReceivedBytes(std::string bytes) : bytes_(std::move(bytes)), source_(bytes_) {}
  base::Result<std::size_t> Read(std::span<char> buffer) override { return source_.Read(buffer); }

 private:
  std::string bytes_;
  archive::MemorySource source_;
};

class RemoteContext : public core::Context {
 public:
  RemoteContext(Way way, std::map<std::string, std::string> environment)
      : way_(std::move(way)), variables_(std::move(environment)) {}

  base::Result<core::CellResult> Run(const core::Cell& cell, core::OutputSink& sink, std::stop_token stop) override {
    core::CellResult result;
    fake::TinyOutput output(sink, cell.max_output_bytes);
    const auto own = variables_;
    for (const auto& [name, value] : cell.environment) variables_[name] = value;
    const auto deadline = base::Deadline::After(cell.timeout);
    const auto ran = way_.server->Call("cell", way_.machine, deadline, stop, [&]() -> base::Status {
      const auto outcome = fake::RunTinyProgram(
          core::Code{core::Language::kShell, cell.text},
          {.files = way_.machine->files(),
           .variables = variables_,
           .write = [&](core::Stream stream, std::string_view bytes) { output.Write(stream, bytes); },
           .read = [] { return std::optional<std::string>(""); },
           .sleep = [](std::chrono::milliseconds) { return std::optional<core::Outcome>(); }});
      if (!outcome) return std::unexpected(outcome.error());
      result.outcome = *outcome;
      if (outcome->exit_code != 0)
        result.error = core::CellError{.name = "Exit", .message = std::to_string(outcome->exit_code), .traceback = {}};
      return {};
    });
    for (const auto& [name, value] : cell.environment)
      if (variables_[name] == value) SetBack(name, own);
    const core::CommandResult counted = output.Finish({});
    result.output_bytes = counted.output_bytes;
    result.output_truncated = counted.output_truncated;
    if (stop.stop_requested()) result.outcome = core::EndedByStop();
    if (!ran && deadline.Expired()) result.outcome = core::EndedByTimeout(cell.timeout);
    if (!ran && !stop.stop_requested() && !deadline.Expired()) return std::unexpected(ran.error());
    result.alive = Alive();
    return result;
  }

  base::Result<core::ContextState> Save(std::chrono::milliseconds) override {
    return base::Err(base::Code::kUnavailable, "contexts of this backend cannot be branched");
  }
  base::Status Load(const core::ContextState&, std::chrono::milliseconds) override {
    return base::Err(base::Code::kUnavailable, "contexts of this backend cannot be branched");
  }
  [[nodiscard]] bool Alive() const override { return way_.machine->alive(); }
  [[nodiscard]] core::StartKind Started() const override { return core::StartKind::kExec; }

 private:
  void SetBack(const std::string& name, const std::map<std::string, std::string>& before) {
    variables_.erase(name);
    if (const auto found = before.find(name); found != before.end()) variables_.insert(*found);
  }

  Way way_;
  std::map<std::string, std::string> variables_;
};

class RemoteSandbox : public core::Sandbox, public core::Contexts, public core::SandboxFiles {
 public:
  RemoteSandbox(std::shared_ptr<Server> server, Server::Lease lease, core::SandboxSpec spec)
      : server_(std::move(server)), lease_(std::move(lease)), spec_(std::move(spec)) {}
  ~RemoteSandbox() override { (void)RemoteSandbox::Stop(base::Deadline::After(kEndPatience)); }

  base::Status Start(base::Deadline deadline, const std::stop_token& stop) override {
    if (IsRunning()) return {};
    SKERRY_ASSIGN_OR_RETURN(auto machine, server_->Make(lease_, deadline, stop));
    const std::scoped_lock lock(mutex_);
    machine_ = std::move(machine);
    return {};
  }

  base::Status Stop(base::Deadline deadline) override {
    std::shared_ptr<Machine> machine;
    {
      const std::scoped_lock lock(mutex_);
      machine = std::exchange(machine_, nullptr);
    }
    return machine != nullptr ? server_->Delete(machine->id(), deadline) : base::Status{};
  }

  base::Result<std::unique_ptr<core::Process>> Launch(core::Command command, core::OutputSink& sink,
                                                      const std::stop_token& stop) override {
    SKERRY_ASSIGN_OR_RETURN(const Way way, Find());
    std::shared_ptr<Program> program;
    SKERRY_RETURN_IF_ERROR(
        server_->Call("launch", way.machine, base::Deadline::After(command.timeout), stop, [&]() -> base::Status {
          SKERRY_ASSIGN_OR_RETURN(program, way.machine->Launch(command));
          return {};
        }));
    return std::make_unique<RemoteProcess>(way, std::move(program), command, sink);
  }

  [[nodiscard]] core::SandboxFiles& files() override { return *this; }
  [[nodiscard]] core::Contexts* contexts() override { return this; }
  base::Result<std::unique_ptr<core::Context>> OpenContext(const core::NewContext& context) override {
    if (context.language != core::Language::kShell)
      return base::Err(base::Code::kUnavailable, "this backend has contexts of the shell only");
    SKERRY_ASSIGN_OR_RETURN(Way way, Find());
    return std::make_unique<RemoteContext>(std::move(way), context.environment);
  }

  [[nodiscard]] bool IsRunning() const override {
    const std::scoped_lock lock(mutex_);
    return machine_ != nullptr && machine_->alive();
  }
  [[nodiscard]] std::vector<std::string> Degraded() const override { return {}; }
  [[nodiscard]] base::Result<core::SandboxUsage> Sample(base::Deadline deadline) override {
    const auto way = Find();
    if (!way) return base::Err(base::Code::kUnavailable, "the sandbox does not run");
    core::SandboxUsage usage{.memory_limit_bytes = spec_.limits.memory_mb << 20U, .pids_limit = spec_.limits.pids};
    SKERRY_RETURN_IF_ERROR(server_->Call("sample", way->machine, deadline, {}, [&]() -> base::Status {
      usage.pids = way->machine->CountPrograms();
      return {};
    }));
    return usage;
  }

  base::Result<core::FileMark> Mark(base::Deadline deadline, const std::stop_token& stop) override {
    return AtFiles<core::FileMark>("mark", deadline, stop,
                                   [](MemoryFiles& files) -> base::Result<core::FileMark> { return files.Mark(); });
  }
  base::Status Import(base::ByteSource& tar, base::Deadline deadline, const std::stop_token& stop) override {
    SKERRY_ASSIGN_OR_RETURN(const Way way, Find());
    return server_->Call("import", way.machine, deadline, stop, [&] { return way.machine->files().Import(tar); });
  }
  base::Result<std::unique_ptr<base::ByteSource>> Export(std::span<const std::string> paths, base::Deadline deadline,
                                                         const std::stop_token& stop) override {
    SKERRY_ASSIGN_OR_RETURN(
        std::string bytes,
        AtFiles<std::string>("export", deadline, stop, [&](const MemoryFiles& files) { return files.Export(paths); }));
    return std::make_unique<ReceivedBytes>(std::move(bytes));
  }
  base::Status Remove(std::span<const std::string> paths, base::Deadline deadline,
                      const std::stop_token& stop) override {
    SKERRY_ASSIGN_OR_RETURN(const Way way, Find());
    return server_->Call("remove", way.machine, deadline, stop, [&]() -> base::Status {
      for (const std::string& path : paths) (void)way.machine->files().Remove(path);
      return {};
    });
  }
  base::Result<std::string> Read(const std::string& path, std::uint64_t offset, std::size_t length,
                                 base::Deadline deadline, const std::stop_token& stop) override {
    return AtFiles<std::string>("read", deadline, stop, [&](MemoryFiles& files) -> base::Result<std::string> {
      const auto text = files.Read(path);
      if (!text) return base::Err(base::Code::kNotFound, "no such file: " + path);
      return text->substr(std::min<std::size_t>(offset, text->size()), length);
    });
  }

 private:
  [[nodiscard]] base::Result<Way> Find() const {
    const std::scoped_lock lock(mutex_);
    if (machine_ == nullptr) return base::Err(base::Code::kNotStarted, "the sandbox has not been started");
    return Way{server_, machine_};
  }

  template <class T, class Act>
  base::Result<T> AtFiles(const char* call, base::Deadline deadline, const std::stop_token& stop, const Act& act) {
    SKERRY_ASSIGN_OR_RETURN(const Way way, Find());
    base::Result<T> found = base::Err(base::Code::kInternal, "not asked");
    SKERRY_RETURN_IF_ERROR(server_->Call(call, way.machine, deadline, stop, [&]() -> base::Status {
      found = act(way.machine->files());
      return {};
    }));
    return found;
  }

  std::shared_ptr<Server> server_;
  Server::Lease lease_;
  core::SandboxSpec spec_;
  mutable std::mutex mutex_;
  std::shared_ptr<Machine> machine_;
};

}  // namespace

core::Abilities RemoteFakeBackend::Can() const {
  return {.strength = core::Strength::kNamespaces, .workspace = core::WorkspaceKind::kRemote, .contexts = true};
}

core::Availability RemoteFakeBackend::Probe(base::Deadline deadline) {
  const auto answered = server_->Call("probe", nullptr, deadline, {}, [] { return base::Status{}; });
  return answered ? core::Availability{true, "for tests"} : core::Availability{false, answered.error().message};
}

base::Status RemoteFakeBackend::SweepOrphans(base::Deadline deadline) {
  return server_->Call("sweep", nullptr, deadline, {}, [this]() -> base::Status {
    (void)server_->RemoveOrphans();
    return {};
  });
}

base::Result<std::unique_ptr<core::Sandbox>> RemoteFakeBackend::Create(const core::SandboxSpec& spec) {
  if (spec.workspace || spec.root || !spec.binds.empty() || !spec.hidden.empty())
    return base::Err(base::Code::kUnavailable, "this sandbox has nothing of the host");
  return std::make_unique<RemoteSandbox>(server_, lease_, spec);
}

}  // namespace skerry::backends::remote_fake
