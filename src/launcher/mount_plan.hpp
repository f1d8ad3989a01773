// The root file system of a sandbox as a list of steps: made before the clone, carried out after it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "os/mounts.hpp"

namespace skerry::launcher {

enum class StepKind {
  kDirectory,  // mkdir target
  kFile,       // target with the bytes of data
  kLink,       // target → source
  kBind,       // source of the host appears at target (made as source is: file or directory)
  kTmpfs,      // an empty file system with the options of data
  kProcess,    // a fresh /proc of the sandbox's own processes
  kTerminals,  // a devpts of its own
  kMask,       // target hidden
  kSetting,    // data written to target, a file of /proc/sys
  kReadOnly,   // target read-only where it is
  kWorkspace,  // the workspace at target
};

enum class Missing { kFail, kSkip };

struct MountStep {
  StepKind kind = StepKind::kDirectory;
  std::string source;
  std::string target;  // relative to the new root
  std::string data;
  os::BindOptions options;
  Missing missing = Missing::kFail;
};

struct MountSizes {
  std::uint64_t tmp_bytes = 0;
};

inline constexpr char kWorkspaceTarget[] = "workspace";

// Everything below an empty root: /usr and a few files of /etc from the host, read-only; /dev, /proc, /tmp, the home
// directory and /workspace of its own. Nothing else of the host is there.
std::vector<MountStep> PlanRoot(const MountSizes& sizes);

}  // namespace skerry::launcher
