// The root file system of a sandbox as a list of steps: made before the clone, carried out after it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "launcher/protocol.hpp"
#include "os/mounts.hpp"

namespace skerry::launcher {

enum class StepKind {
  kDirectory,         // mkdir target, unless it is there
  kFile,              // target with the bytes of data
  kLink,              // target → source
  kBind,              // source of the host appears at target (made as source is: file or directory)
  kTree,              // the host tree with this number appears at target
  kTmpfs,             // an empty file system with the options of data
  kProcess,           // a fresh /proc of the sandbox's own processes
  kTerminals,         // a devpts of its own
  kMaskFile,          // target hidden, if it is there
  kMaskDirectory,     // likewise
  kSetting,           // data written to target, a file of /proc/sys
  kReadOnly,          // target read-only where it is
  kSeal,              // the file system mounted at target read-only
  kResize,            // the empty file system at target gets the options of data
  kCover,             // a file with the bytes of data over target, if that is there
  kUnmount,           // target no longer a mount
  kEmptyWorkspace,    // an empty file system with the options of data
  kLayeredWorkspace,  // the host tree below, an empty file system with the options of data above it
};

enum class Missing { kFail, kSkip };

struct MountStep {
  StepKind kind = StepKind::kDirectory;
  std::string source;
  std::string target;  // relative to the new root
  std::string data;
  os::BindOptions options;
  Missing missing = Missing::kFail;
  int tree = -1;
};

inline constexpr char kWorkspaceTarget[] = "workspace";
inline constexpr char kStageTarget[] = "mnt";  // where mounts are put together before they are moved to their place
inline constexpr std::size_t kMaxTrees = 50;   // the workspace, a root, and the binds

// An entry of the top of a root file system.
struct RootEntry {
  std::string name;
  std::string link;  // its target when it is a symbolic link
};

// Where the symbolic link `name` leads; "" when there is something else, or nothing.
base::Result<std::string> LinkTarget(int directory, const std::string& name);

// The steps that fill an empty root: the programs of the host (/usr and a few files of /etc) or the entries of a root
// file system, read-only; the binds; /dev, /proc, /tmp, the home directory and /workspace of the sandbox's own. Nothing
// else is there. Trees are numbered in the order of the request's descriptors.
struct RootPlan {
  std::vector<MountStep> shared;  // first; the same for all sandboxes with the host's programs
  std::vector<MountStep> fixed;   // second; of this sandbox alone, and the same whatever the client asked for
  std::vector<MountStep> own;     // third; what the client asked for
};
base::Result<RootPlan> PlanRoot(const StartRequest& request, const std::vector<RootEntry>& root);

// The shared part with the programs of the host, closed for good: sandboxes get copies of it. It has an empty /proc
// too: the kernel lets a sandbox mount its own /proc only where it sees one already.
base::Result<std::vector<MountStep>> PlanTemplate();

// The steps of a sandbox that is made ahead: those before a client asks for it, after the shared part; and those that
// follow when a client has asked.
std::vector<MountStep> PlanVacancy();
std::vector<MountStep> PlanFurnishing(const StartRequest& request);

// Whether a sandbox can start from a copy of the template: it needs nothing made in the root.
bool FitsTemplate(const StartRequest& request);

}  // namespace skerry::launcher
