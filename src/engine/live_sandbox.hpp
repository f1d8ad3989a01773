// A sandbox of a session whose processes live on from command to command.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "core/backend.hpp"
#include "engine/tree_look.hpp"
#include "engine/watched.hpp"
#include "engine/workspace_mirror.hpp"
#include "workspace/layer_memory.hpp"

namespace skerry::engine {

// Made by SandboxManager::StartLive. Programs run in it beside each other.
struct LiveSandbox {
  core::Backend* backend = nullptr;
  core::Abilities abilities;
  std::unique_ptr<core::Sandbox> sandbox;
  struct Layer {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    bool operator==(const Layer&) const = default;
  };
  std::mutex order;                         // of commits of this session, and of what follows; nobody else waits for it
  Layer layer;                              // of changes, as it was when it was last looked at
  workspace::LayerMemory memory;            // what was committed of its layer
  std::unique_ptr<WorkspaceMirror> mirror;  // where the sandbox has a copy of the files in place of a layer
  int directory = -1;                       // the session's, which is borrowed
  std::uint64_t generation = 0;             // grows when it had to be made anew; then its views are others
  std::vector<std::string> degraded;
  Watched::Registration watched;  // ends before the sandbox
};

// A sandbox that was lost is made anew by whoever runs the next command, with another layer. Needs the lock.
void NoticeNewLayer(LiveSandbox& live);

// Makes a sandbox anew that was lost with all that ran in it, on the same files. Needs the lock.
base::Status Revive(LiveSandbox& live, base::Deadline deadline, const std::stop_token& stop);

// Reads a layer while nothing in its sandbox moves. Needs the lock.
base::Status Standing(LiveSandbox& live, const std::function<base::Status()>& act);

// The workspace as its programs see it, open for as long as it is wanted: the sandbox may be made anew meanwhile. Of a
// sandbox that has a copy, the session's directory: as it is after the last commit.
base::UniqueFd FilesOf(LiveSandbox& live);

// At everything that its programs can write to: the workspace, and what lives and dies with the sandbox.
TreeLook LookAround(LiveSandbox& live, const std::stop_token& stop);

}  // namespace skerry::engine
