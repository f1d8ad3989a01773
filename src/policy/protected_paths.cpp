#include "policy/protected_paths.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <map>
#include <ranges>
#include <utility>
#include <vector>

#include "base/glob.hpp"
#include "policy/folded_name.hpp"

namespace skerry::policy {
namespace {

constexpr std::string_view kHook = "git hook";
constexpr std::string_view kRebase = "open rebase, which can start programs; git checkout leaves it";
constexpr std::string_view kWorktree = "git worktree, which leads into the sandbox; git worktree add makes one here";
constexpr std::string_view kLink = "link to another git directory";

constexpr std::string_view kHookDirectories = "hooks .hooks githooks .githooks git-hooks .git-hooks";

// githooks(5)
constexpr std::string_view kHookNames =
    "applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg "
    "post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update "
    "reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman "
    "p4-changelist p4-prepare-changelist p4-post-changelist p4-pre-submit post-index-change";

// Directories that other rules name, besides those of the table.
constexpr std::string_view kDirectories = ".git .githooks .git-hooks git-hooks worktrees rebase-merge";

template <class Visit>
void ForEachWord(std::string_view words, std::string_view separators, Visit visit) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find_first_of(separators), words.size());
    if (end > 0) visit(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

bool Lists(std::string_view names, std::string_view name) {
  bool found = false;
  ForEachWord(names, " ", [&](std::string_view listed) { found = found || listed == name; });
  return found;
}

bool IsPattern(std::string_view name) {
  return name.find_first_of("*?[\\") != std::string_view::npos;
}

}  // namespace

// The rows by their names: every name of every changed path is looked up.
class ProtectedTable {
 public:
  explicit ProtectedTable(std::vector<ProtectedRow> rows) : rows_(std::move(rows)) {
    ForEachWord(kDirectories, " ", [&](std::string_view name) { long_names_.emplace_back(name); });
    for (const ProtectedRow& row : rows_) {
      for (const std::string& name : row.names) {
        if (IsPattern(name)) patterns_.emplace_back(name, &row);
        if (!IsPattern(name)) plain_.emplace(name, &row);
      }
      ForEachWord(row.where, "/", [&](std::string_view name) { long_names_.emplace_back(name); });
      std::ranges::copy(row.names, std::back_inserter(long_names_));
    }
    std::erase_if(long_names_, IsPattern);
  }
  ProtectedTable(const ProtectedTable&) = delete;
  ProtectedTable& operator=(const ProtectedTable&) = delete;

  const std::vector<ProtectedRow>& Rows() const { return rows_; }

  // The first row for a name in a directory; rows that only instruct come last.
  const ProtectedRow* Find(std::string_view parent, std::string_view name) const {
    const ProtectedRow* found = nullptr;
    const auto consider = [&](const ProtectedRow* row) {
      if (!row->where.empty() && !base::GlobMatch(row->where, parent)) return;
      if (found == nullptr || (found->kind == PathKind::kInstructs && row->kind != PathKind::kInstructs)) found = row;
    };
    const auto [first, last] = plain_.equal_range(name);
    for (const auto& [listed, row] : std::ranges::subrange(first, last)) consider(row);
    for (const auto& [pattern, row] : patterns_)
      if (base::GlobMatch(pattern, name)) consider(row);
    return found;
  }

  std::string LongName(std::string name) const {
    if (!name.contains('~')) return name;
    const auto found =
        std::ranges::find_if(long_names_, [&](const std::string& listed) { return IsShortNameOf(name, listed); });
    return found == long_names_.end() ? name : *found;
  }

 private:
  std::vector<ProtectedRow> rows_;
  std::multimap<std::string_view, const ProtectedRow*> plain_;              // into rows_, in their order
  std::vector<std::pair<std::string_view, const ProtectedRow*>> patterns_;  // likewise
  std::vector<std::string> long_names_;                                     // names that NTFS has a second name for
};

namespace {

std::vector<ProtectedRow> BuiltInRows() {
  auto rows = ParseProtectedRows(ProtectedRowsText());
  if (!rows) std::abort();  // rather than a table that protects nothing
  return std::move(*rows);
}

struct FoldedName {
  std::string_view parent;  // "" at the root
  std::string_view name;
};

class FoldedPath {
 public:
  FoldedPath(std::string_view path, const ProtectedTable& table) {
    ForEachWord(path, "/\\", [&](std::string_view name) {
      const std::string folded = table.LongName(FoldName(name));
      if (!folded.empty()) text_.append(text_.empty() ? "" : "/").append(folded);
    });
    ForEachWord(text_, "/", [&](std::string_view name) {
      const auto start = static_cast<std::size_t>(name.data() - text_.data());
      names_.push_back({std::string_view(text_).substr(0, start == 0 ? 0 : start - 1), name});
    });
    if (names_.empty()) names_.emplace_back();
  }
  FoldedPath(const FoldedPath&) = delete;
  FoldedPath& operator=(const FoldedPath&) = delete;

  std::string_view Text() const { return text_; }
  const std::vector<FoldedName>& Names() const { return names_; }  // from the root on; one empty name for ""
  const FoldedName& File() const { return names_.back(); }

 private:
  std::string text_;
  std::vector<FoldedName> names_;  // views into text_
};

bool IsBelow(const FoldedName& file, std::string_view directory) {
  return base::GlobMatch(directory, file.parent) || base::GlobMatch(std::string(directory) + "/**", file.parent);
}

// A branch may be called "config" or "hooks/x"; its file in refs is neither.
InGitDirectory WithoutRefs(const FoldedName& file, InGitDirectory in_git_directory) {
  const bool is_ref = IsBelow(file, "**/.git/refs") || IsBelow(file, "**/.git/logs");
  return is_ref ? InGitDirectory::kNo : in_git_directory;
}

bool IsHook(const FoldedPath& path, InGitDirectory in_git_directory) {
  const FoldedName& file = path.File();
  const std::vector<FoldedName>& names = path.Names();
  if (file.name.ends_with(".sample")) return false;
  if (IsBelow(file, "**/.git/hooks") || IsBelow(file, "**/.git/modules/**/hooks")) return true;
  if (in_git_directory == InGitDirectory::kYes && IsBelow(file, "**/hooks")) return true;
  return names.size() > 1 && Lists(kHookDirectories, names[names.size() - 2].name) && Lists(kHookNames, file.name);
}

// Why git would run or read the file, wherever it lies.
std::optional<std::string_view> ReasonInGit(const FoldedPath& path, InGitDirectory in_git_directory) {
  if (IsHook(path, in_git_directory)) return kHook;
  const FoldedName& file = path.File();
  // Remotes from before there was a configuration file. Every new repository has the directory itself, empty.
  if (IsBelow(file, "**/.git/remotes") || IsBelow(file, "**/.git/branches")) return "git configuration";
  if (in_git_directory == InGitDirectory::kNo) return std::nullopt;
  if (IsBelow(file, "**/rebase-merge")) return kRebase;
  return IsBelow(file, "**/worktrees") ? std::optional(kWorktree) : std::nullopt;
}

// The strongest reason of all names of the path: below a directory of instructions there may be files that run.
PathVerdict Reason(const FoldedPath& path, const ProtectedTable& table, InGitDirectory in_git_directory) {
  const ProtectedRow* instructs = nullptr;
  for (const FoldedName& name : path.Names()) {
    const ProtectedRow* row = table.Find(name.parent, name.name);
    if (row != nullptr && row->kind != PathKind::kInstructs) return {.reason = row->reason, .kind = row->kind};
    if (instructs == nullptr) instructs = row;
  }
  if (const auto reason = ReasonInGit(path, in_git_directory)) return {.reason = std::string(*reason)};
  if (instructs != nullptr) return {.reason = instructs->reason, .kind = PathKind::kInstructs};
  return {};
}

ContentQuestion Question(const FoldedName& file, InGitDirectory in_git_directory) {
  if (file.name == ".git") return ContentQuestion::kGitLink;
  if (!Lists("config config.worktree", file.name)) return ContentQuestion::kNone;
  const bool by_name = base::GlobMatch("**/.git", file.parent) || IsBelow(file, "**/.git/modules");
  return by_name || in_git_directory == InGitDirectory::kYes ? ContentQuestion::kGitConfig : ContentQuestion::kNone;
}

// True when a rule is about what is below this directory.
bool LeadsToRule(const FoldedPath& path, const ProtectedTable& table) {
  if (Lists(kHookDirectories, path.File().name)) return true;
  const auto leads = [&](std::string_view where) {
    for (; where.contains('/'); where.remove_suffix(where.size() - where.rfind('/')))
      if (base::GlobMatch(where, path.Text())) return true;
    return false;
  };
  return std::ranges::any_of(table.Rows(), leads, &ProtectedRow::where);
}

// The names of a path as they are written: where a link leads must not depend on spellings that a file system takes for
// the same.
std::vector<std::string_view> PlainNames(std::string_view path) {
  std::vector<std::string_view> names;
  ForEachWord(path, "/", [&](std::string_view name) { names.push_back(name); });
  return names;
}

// Where the link leads, from the workspace's root on. Nothing when the target is outside or uncertain: ".." after a
// name goes wherever a symbolic link of that name leads.
std::optional<std::vector<std::string_view>> Target(std::string_view path, std::string_view link) {
  std::vector<std::string_view> target = PlainNames(path);
  bool climbing = true;
  if (target.empty() || link.empty() || link.starts_with('/') || link.contains("//")) return std::nullopt;
  target.pop_back();
  for (const std::string_view name : PlainNames(link)) {
    climbing = climbing && name == "..";
    if (climbing && !target.empty()) {
      target.pop_back();
    } else if (climbing || name == "." || name == "..") {
      return std::nullopt;
    } else {
      target.push_back(name);
    }
  }
  return target;
}

}  // namespace

ProtectedPaths::ProtectedPaths() {
  static const auto table = std::make_shared<const ProtectedTable>(BuiltInRows());
  table_ = table;
}

base::Result<ProtectedPaths> ProtectedPaths::Make(std::span<const std::string> more) {
  ProtectedPaths paths;
  if (more.empty()) return paths;
  std::vector<ProtectedRow> rows = paths.table_->Rows();
  for (const std::string& text : more) {
    auto row = ParseProtectedRow(text);
    if (!row) return base::Err(row.error().code, "\"" + text + "\": " + row.error().message);
    rows.push_back(std::move(*row));
  }
  paths.table_ = std::make_shared<const ProtectedTable>(std::move(rows));
  return paths;
}

PathVerdict ProtectedPaths::Judge(std::string_view path, InGitDirectory in_git_directory) const {
  const FoldedPath folded(path, *table_);
  in_git_directory = WithoutRefs(folded.File(), in_git_directory);
  PathVerdict verdict = Reason(folded, *table_, in_git_directory);
  if (!verdict.reason) verdict.question = Question(folded.File(), in_git_directory);
  return verdict;
}

bool IsHookName(std::string_view name) {
  return Lists(kHookNames, FoldName(name));
}

std::optional<std::string> JudgeGitLink(std::string_view path, std::string_view content) {
  constexpr std::string_view kKey = "gitdir: ";
  if (!content.starts_with(kKey)) return std::string(kLink);
  std::string_view link = content.substr(kKey.size());
  if (link.ends_with('\n')) link.remove_suffix(1);
  const bool control = std::ranges::any_of(link, [](char c) { return static_cast<unsigned char>(c) < 0x20U; });
  const auto target = Target(path, link);
  std::string reason(link.contains("/.git/worktrees/") ? kWorktree : kLink);
  if (control || !target) return reason;
  const std::span<const std::string_view> from_git(std::ranges::find(*target, ".git"), target->end());
  const bool submodule = from_git.size() > 2 && from_git[1] == "modules";
  return submodule || from_git.size() == 1 ? std::nullopt : std::optional(std::move(reason));
}

std::optional<std::string> ProtectedPaths::JudgeSymbolicLink(std::string_view path,
                                                             InGitDirectory in_git_directory) const {
  const FoldedPath folded(path, *table_);
  PathVerdict verdict = Reason(folded, *table_, in_git_directory);
  if (verdict.reason && verdict.kind != PathKind::kInstructs) return std::move(verdict.reason);
  const bool in_git = std::ranges::find(folded.Names(), ".git", &FoldedName::name) != folded.Names().end();
  if (in_git || in_git_directory == InGitDirectory::kYes) return std::string(kLink);
  if (LeadsToRule(folded, *table_)) return "link in place of a protected directory";
  return std::nullopt;
}

}  // namespace skerry::policy
