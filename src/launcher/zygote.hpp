// A zygote as its launcher keeps it: one process of an interpreter that forks into sandboxes, replaced before it has
// lived too long.
//
// Mitigations of what forked interpreters share (docs/design/0004): a zygote never sees a byte of a tenant; it holds no
// privilege of root, only what lets it enter namespaces, and that only while it forks; it is replaced after a number of
// forks or minutes, so that few sandboxes share a layout of memory and a hash seed.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "launcher/fork_order.hpp"
#include "launcher/protocol.hpp"
#include "os/event_set.hpp"
#include "os/pidfd.hpp"

namespace skerry::launcher {

// All zygotes of a launcher. Never waits: orders are sent, answers come back later and in order.
class Zygotes {
 public:
  // Called with the answer to a session's order: the pid of a new child of the launcher, or why there is none.
  using Answered = std::function<void(std::uint64_t session, const Forked& forked)>;

  // `events` must outlive the Zygotes; `first_token` and the numbers above it are theirs.
  Zygotes(os::EventSet& events, std::uint64_t first_token, Answered answered);
  ~Zygotes();
  Zygotes(const Zygotes&) = delete;
  Zygotes& operator=(const Zygotes&) = delete;

  // Replaces an offer of the same name. `library` and `text` become descriptors 4 and 5 of the program.
  void Offer(ZygoteOffer offer, base::UniqueFd library, base::UniqueFd text);

  // `fds` as ForkOrder says; they stay the caller's. The answer comes through the callback, perhaps before this
  // returns.
  void Fork(std::uint64_t session, const std::string& name, const ForkOrder& order, std::span<const int> fds);

  void OnReady(std::uint64_t token);

  // True once after a zygote died with open orders: it may have made children that the launcher does not know of.
  [[nodiscard]] bool MayHaveLostChildren() { return std::exchange(lost_children_, false); }
  [[nodiscard]] bool IsZygote(pid_t pid) const;

 private:
  struct Process {
    os::PidFd pid;
    base::UniqueFd socket;
    std::uint64_t token = 0;
    bool ready = false;
    std::uint64_t forks = 0;
    base::Deadline worn = base::Deadline::Never();
    std::deque<std::uint64_t> waiting;  // sessions whose orders are open
  };
  struct Kind {
    ZygoteOffer offer;
    base::UniqueFd library;
    base::UniqueFd text;
    std::vector<std::unique_ptr<Process>> processes;  // the last one that is ready gets the orders
    int failures = 0;                                 // starts in a row that failed before a zygote was ready
    std::string why;                                  // of the last failure
  };

  base::Result<std::unique_ptr<Process>> Start(Kind& kind);
  Process* Choose(Kind& kind);
  void ReadAnswer(Kind& kind, Process& process);
  void Lose(Kind& kind, Process& process);
  void Retire(Kind& kind, Process& process);
  void Forget(Kind& kind, const Process& process);

  os::EventSet& events_;
  std::uint64_t next_token_;
  Answered answered_;
  std::map<std::string, Kind> kinds_;
  std::vector<os::PidFd> retired_;  // zygotes that are ending
  bool lost_children_ = false;
};

}  // namespace skerry::launcher
