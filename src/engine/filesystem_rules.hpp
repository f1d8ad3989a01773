// The `filesystem` settings for one run: which host files appear inside, which are hidden, which are not carried back.
#pragma once

#include <string>
#include <vector>

#include "base/glob.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "core/backend.hpp"
#include "policy/protected_paths.hpp"

namespace skerry::engine {

// Absolute paths, paths from `~`, or patterns (base/glob.hpp); relative ones lie in the workspace.
struct FilesystemOptions {
  std::vector<std::string> allow_read;
  std::vector<std::string> deny_read;
  std::vector<std::string> allow_write;
  std::vector<std::string> deny_write;
  std::vector<std::string> protect;            // rows of policy/protected_rows.hpp, besides those that are built in
  std::vector<std::string> dangerously_allow;  // what may be named although CheckPlace() refuses it
  std::string home;                            // what `~` is; "" for none
  std::vector<std::string> own_directories;    // directories of Skerry
  std::string state_directory;                 // where Skerry notes commits that are under way; "" for none
};

class FilesystemRules {
 public:
  // `workspace` is the real path of the workspace and `workspace_fd` that directory, or "" and -1 for none. An error
  // names the setting. Paths that do not exist are skipped and noted.
  static base::Result<FilesystemRules> Make(const FilesystemOptions& options, const std::string& workspace,
                                            int workspace_fd);

  void ApplyTo(core::SandboxSpec& spec) const;

  [[nodiscard]] const base::PathPatterns& deny_write() const { return deny_write_; }
  [[nodiscard]] const policy::ProtectedPaths& protected_paths() const { return protected_paths_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  // Whether no setting needs a sandbox with mounts of its own.
  [[nodiscard]] bool Empty() const { return binds_.empty() && hidden_.empty() && !has_deny_write_; }

 private:
  friend class RulesBuilder;

  std::vector<core::HostBind> binds_;
  std::vector<std::string> hidden_;
  base::PathPatterns deny_write_;
  bool has_deny_write_ = false;
  policy::ProtectedPaths protected_paths_;
  std::vector<std::string> notes_;
};

}  // namespace skerry::engine
