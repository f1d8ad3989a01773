// One client of the keeper of contexts: it says hello, asks for one thing, and gets the answer.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "cli/context_frames.hpp"
#include "cli/keeper_approvals.hpp"
#include "engine/context_manager.hpp"

namespace skerry::cli {

class ContextSession;

// What all sessions of a keeper share. Thread-safe.
class KeeperHouse {
 public:
  // `wake`: an eventfd of the keeper.
  KeeperHouse(engine::ContextManager& contexts, KeeperApprovals& approvals, std::string identity, int wake)
      : contexts_(contexts), approvals_(approvals), identity_(std::move(identity)), wake_(wake) {}

  [[nodiscard]] engine::ContextManager& contexts() const { return contexts_; }
  [[nodiscard]] KeeperApprovals& approvals() const { return approvals_; }
  [[nodiscard]] const std::string& identity() const { return identity_; }

  // A session that runs a cell in the context, so that others can end what it waits for.
  void Enter(const ContextSession* session, const std::string& context, const std::stop_source& stop);
  void Leave(const ContextSession* session);
  void StopSessionsIn(const std::string& context);

  // Asks the keeper to end.
  void End();
  [[nodiscard]] bool Ending() const { return ending_; }
  // Makes the keeper look at its sessions and at Ending.
  void Wake() const;

 private:
  engine::ContextManager& contexts_;
  KeeperApprovals& approvals_;
  std::string identity_;
  int wake_;
  std::atomic<bool> ending_ = false;
  std::mutex mutex_;
  struct Running {
    std::string context;
    std::stop_source stop;
  };
  std::map<const ContextSession*, Running> running_;
};

// Serve runs in a thread of its own; a client who says what makes no sense loses this session only. One who goes away
// while a cell runs interrupts it: nobody reads its output.
class ContextSession {
 public:
  ContextSession(base::UniqueFd socket, KeeperHouse& house)
      : house_(house), socket_(std::move(socket)), reader_(socket_.get()) {}

  void Serve();
  [[nodiscard]] bool Done() const { return done_; }
  // From another thread: the client is gone as far as this session can see, unless it is the one who asked the keeper
  // to end: for that one the end of the stream is the end of the keeper.
  void HangUp() const;

 private:
  using Json = nlohmann::ordered_json;

  void Talk();
  base::Result<Json> Answer(const Json& request);
  base::Result<Json> RunCell(const Json& request);
  // What would be asked about a cell, and whether it was answered for good.
  base::Result<Json> Consider(const Json& request);
  base::Result<Json> Fork(const Json& request);
  [[nodiscard]] Json List() const;
  void Watch(const std::stop_source& stop, int cell_ended);

  KeeperHouse& house_;
  base::UniqueFd socket_;
  FrameReader reader_;
  std::atomic<bool> asked_to_end_ = false;
  std::atomic<bool> done_ = false;
};

}  // namespace skerry::cli
