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

// Made by SandboxManager::StartLive. Programs run in the sandbox beside each other.
struct LiveSandbox {
  core::Backend* backend = nullptr;
  core::Abilities abilities;
  std::unique_ptr<core::Sandbox> sandbox;
  struct Layer {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    bool operator==(const Layer&) const = default;
  };
  std::mutex order;                         // of this session's commits; guards what follows
  Layer layer;                              // of changes, as it was last seen
  workspace::LayerMemory memory;            // what was committed of the layer
  std::unique_ptr<WorkspaceMirror> mirror;  // where the sandbox has a copy of the files in place of a layer
  int directory = -1;                       // the session's, which is borrowed
  std::uint64_t generation = 0;             // grows when the sandbox was made anew; its views are other ones then
  std::vector<std::string> degraded;
  Watched::Registration watched;  // ends before the sandbox
};

// Notices that the sandbox was lost and that the next command has made it anew, with another layer. Needs the lock.
void NoticeNewLayer(LiveSandbox& live);

// Makes a lost sandbox anew on the same files; what ran in it is gone. Needs the lock.
base::Status Revive(LiveSandbox& live, base::Deadline deadline, const std::stop_token& stop);

// Calls `act` while the processes of the sandbox stand still, if it can be frozen. Needs the lock.
base::Status Standing(LiveSandbox& live, const std::function<base::Status()>& act);

// The workspace as programs of the sandbox see it, on a descriptor of the caller's: the sandbox may be made anew
// meanwhile. For a sandbox that has a copy, the session's directory: the files as of the last commit.
base::UniqueFd FilesOf(LiveSandbox& live);

// Looks at everything that the sandbox's programs can write to: the workspace, and what lives and dies with the
// sandbox.
TreeLook LookAround(LiveSandbox& live, const std::stop_token& stop);

}  // namespace skerry::engine
