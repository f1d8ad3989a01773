// One client of the launcher: the client's socket, and the one sandbox that the client asked for, from the request to
// the last word.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "base/deadline.hpp"
#include "base/unique_fd.hpp"
#include "launcher/machine_facts.hpp"
#include "launcher/protocol.hpp"
#include "launcher/sandbox_process.hpp"
#include "launcher/vacancies.hpp"
#include "launcher/zygote.hpp"
#include "os/event_set.hpp"

namespace skerry::launcher {

// What the sessions of a launcher share. It outlives them.
struct Workplace {
  os::EventSet events;
  MachineFacts machine;
  int init_program = -1;
  Zygotes* zygotes = nullptr;
  Vacancies vacancies = {};
  // Sandboxes without a process. Their cgroups and mounts take time to remove, for which no client has to wait.
  std::deque<SandboxProcess> empty_ones = {};
};

// A session never waits: the launcher calls it when a descriptor is ready or its time has come.
class ClientSession {
 public:
  // Which of a session's descriptors an event is about.
  enum class Source : std::uint8_t { kClient, kReport, kControl, kInit, kAdopted };
  static constexpr std::uint64_t kSources = 8;  // tokens are session * kSources + source

  ClientSession(std::uint64_t id, base::UniqueFd client, Workplace& workplace);
  ClientSession(const ClientSession&) = delete;
  ClientSession& operator=(const ClientSession&) = delete;
  ~ClientSession();

  void OnReady(Source source);
  void OnTime();
  // When OnTime has to be called.
  [[nodiscard]] base::Deadline NextTime() const;

  // A zygote's answer to this session.
  void OnForked(const Forked& forked);
  [[nodiscard]] bool Knows(pid_t pid) const;

  // Ends the sandbox, whatever it is doing; the client gets the last word when nothing of the sandbox is left.
  void End();
  [[nodiscard]] bool Ending() const { return phase_ == Phase::kEnding; }
  // Nothing is left of the sandbox: the session can be removed.
  [[nodiscard]] bool Over() const { return phase_ == Phase::kOver; }

 private:
  enum class Phase : std::uint8_t { kIdle, kSettingUp, kRunning, kEnding, kOver };

  void Watch(int fd, Source source) const;
  void Answer(const FromLauncher& message);
  void ServeClient();
  void Start(const StartRequest& request, std::span<const base::UniqueFd> fds);
  void ReadReport();
  void ReadFirstWord();
  void HandOver();
  void Refuse(base::Error error);
  void OnActivity(const ActivityRequest& request);
  void OnFork(const ForkRequest& request, std::span<const base::UniqueFd> fds);
  void ReapAdopted();
  void FinishIfEmpty();

  std::uint64_t id_;
  base::UniqueFd client_;
  Workplace& workplace_;
  Phase phase_ = Phase::kIdle;
  std::optional<SandboxProcess> sandbox_;
  std::optional<base::Error> failure_;  // of the set-up: the client gets it in place of the usual last word
  base::Deadline patience_ = base::Deadline::Never();  // how long the set-up or the end may take
  base::Deadline next_look_ = base::Deadline::Never();
  base::Deadline life_ = base::Deadline::Never();
};

}  // namespace skerry::launcher
