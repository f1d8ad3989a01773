// A sandbox: an isolated place that a backend makes, in which programs run on a workspace.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "core/byte_stream.hpp"
#include "core/context.hpp"
#include "core/output_sink.hpp"
#include "core/process.hpp"
#include "core/sandbox_files.hpp"
#include "core/usage.hpp"

namespace skerry::core {

// The interpreters that keep their state, of a sandbox that has contexts (Abilities::contexts).
class Contexts {
 public:
  // The sandbox must be started and outlive the context. A context that ignores an interrupt is ended, with
  // Reach::kSandbox together with everything inside. May be called by any thread, beside other calls.
  virtual base::Result<std::unique_ptr<Context>> OpenContext(const NewContext& context) = 0;

 protected:
  ~Contexts() = default;
};

// For a sandbox whose processes can be frozen (Abilities::pause). May be called by any thread, beside other calls.
class Pausing {
 public:
  // Every process inside stands still until Thaw. kUnavailable where this machine cannot.
  virtual base::Status Freeze(base::Deadline deadline) = 0;
  virtual base::Status Thaw(base::Deadline deadline) = 0;

 protected:
  ~Pausing() = default;
};

// Used by one thread at a time, except for methods that say otherwise. Commands that end nothing but themselves
// (Reach::kCommand) run beside each other and beside contexts, each in its own thread. Destruction stops the sandbox.
//
// No call holds up another sandbox. A call that can take long has a deadline (kTimeout), and where its caller may lose
// interest a stop token (kTimeout as well).
class Sandbox {
 public:
  Sandbox() = default;
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;
  virtual ~Sandbox() = default;

  // Makes the sandbox; again after its loss, around the same workspace where that outlives the loss. A Start that fails
  // leaves nothing behind.
  virtual base::Status Start(base::Deadline deadline, const std::stop_token& stop) = 0;

  // Begins to run a command, whose output goes to `sink` from within Process::Await. kNotStarted before Start,
  // kNotFound for a program that is not there, which some backends report only in Await. kTimeout: see ResultOfLaunch.
  virtual base::Result<std::unique_ptr<Process>> Launch(Command command, OutputSink& sink,
                                                        const std::stop_token& stop) = 0;
  // Launches a command and waits for its end.
  base::Result<CommandResult> Execute(Command command, OutputSink& sink, const std::stop_token& stop);

  [[nodiscard]] virtual SandboxFiles& files() = 0;
  [[nodiscard]] virtual Contexts* contexts() { return nullptr; }
  [[nodiscard]] virtual Pausing* pausing() { return nullptr; }

  // A connection to a port that a program inside listens at (Abilities::ports). It lives no longer than the sandbox.
  // kUnavailable where the backend cannot, or where no program listens.
  virtual base::Result<std::unique_ptr<ByteStream>> Connect(std::uint16_t port, base::Deadline deadline);

  // Kills every process inside without waiting; Stop waits. Only Stop may follow.
  virtual void BeginStop() {}
  // Ends every process inside and releases everything the sandbox holds. May be called again.
  virtual base::Status Stop(base::Deadline deadline) = 0;

  // Whether the sandbox runs, as far as is known without asking: a loss may show in the next call only.
  [[nodiscard]] virtual bool IsRunning() const = 0;
  // What this machine could not enforce; known after Start.
  [[nodiscard]] virtual std::vector<std::string> Degraded() const = 0;

  // What the sandbox uses now (S10.1). May be called by any thread while commands run, and waits for none of them.
  // kUnavailable where that cannot be measured, or not at this moment.
  [[nodiscard]] virtual base::Result<SandboxUsage> Sample(base::Deadline deadline);

  // Gives all programs inside one of `parts` parts of a sandbox's usual share of the processors. May be called by any
  // thread; takes a moment only. False where that could not be done now; true also where it cannot be done at all.
  virtual bool ShareProcessors(std::uint32_t parts);
};

}  // namespace skerry::core
