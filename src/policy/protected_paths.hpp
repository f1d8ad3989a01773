// Files that programs on the person's side run, or that tell those programs what to run: git hooks, shell start-up
// files, editor tasks. What a sandboxed program wrote into one of them is not carried into the person's directory.
// Which names these are is in a table (policy/protected_rows.hpp); what git runs is known besides.
//
// Paths are relative to the workspace ("a/b/c") and every rule holds at any depth. Names are compared the way the most
// forgiving file system would: without case, without invisible characters, with NTFS's other spellings.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "policy/protected_rows.hpp"

namespace skerry::policy {

// Whether a directory above the file is a git directory by what it holds (HEAD, objects and refs, also as symbolic
// links), whatever its name. A directory called .git counts as one by its name.
enum class InGitDirectory { kNo, kYes };

// What the caller has to check of the content before the file may be committed.
enum class ContentQuestion {
  kNone,
  kGitConfig,  // ProgramStartingKeys() has to be empty
  kGitLink,    // when it is a file and not a directory: JudgeGitLink() has to be nothing
};

struct PathVerdict {
  std::optional<std::string> reason = std::nullopt;  // for people, such as "git hook": the path alone forbids it
  PathKind kind = PathKind::kRuns;                   // kInstructs: forbids it only where something was
  ContentQuestion question = ContentQuestion::kNone;
};

class ProtectedTable;

// Copies share the table.
class ProtectedPaths {
 public:
  ProtectedPaths();  // by the table that is built in
  // By the built-in table and more rows. kInvalidArgument names the row.
  static base::Result<ProtectedPaths> Make(std::span<const std::string> more);

  [[nodiscard]] PathVerdict Judge(std::string_view path, InGitDirectory in_git_directory) const;

  // The reason why there may be no symbolic link at this path: the link would give another name to files that were
  // judged by their own. `.git/hooks` pointing at `tools` makes a hook of `tools/pre-commit`. A text for agents
  // (kInstructs) may be a link.
  [[nodiscard]] std::optional<std::string> JudgeSymbolicLink(std::string_view path,
                                                             InGitDirectory in_git_directory) const;

 private:
  std::shared_ptr<const ProtectedTable> table_;
};

// Whether git runs a file of this name in a directory of hooks: githooks(5).
bool IsHookName(std::string_view name);

// The reason why a file called .git may not have this content; nothing when it may. The file may point at a .git
// directory of the workspace or at a submodule's place in one, where Judge() sees every file; nowhere else.
std::optional<std::string> JudgeGitLink(std::string_view path, std::string_view content);

}  // namespace skerry::policy
