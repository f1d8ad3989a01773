#include "policy/protected_paths.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "base/glob.hpp"
#include "base/utf8.hpp"

namespace skerry::policy {
namespace {

constexpr std::string_view kHook = "git hook";
constexpr std::string_view kState = "git state that names programs";
constexpr std::string_view kLink = "link to another git directory";

// Files and directories, with everything below them.
struct Rule {
  std::string_view reason;
  std::string_view parent;  // the directory around it, for base::GlobMatch; kAnywhere for all
  std::string_view names;   // in lower case, between blanks
};

constexpr std::string_view kAnywhere;

constexpr auto kRules = std::to_array<Rule>({
    {"shell start-up file", kAnywhere,
     ".bashrc .bashrc.d .bash_profile .bash_login .bash_logout .bash_aliases .bash_completion .profile .zshrc "
     ".zprofile .zshenv .zlogin .zlogout .oh-my-zsh .kshrc .mkshrc .cshrc .tcshrc .login .logout .inputrc "
     ".pam_environment"},
    {"session start-up file", kAnywhere, ".xprofile .xinitrc .xserverrc .xsession .xsessionrc .xbindkeysrc .xmonad"},
    {"directory environment", kAnywhere, ".envrc .direnv .mise .mise.toml mise.toml .rtx.toml .autoenv.zsh"},
    {"git configuration", kAnywhere, ".gitconfig .gitmodules"},
    {"git directory link", kAnywhere, "commondir"},
    {"git hook configuration", kAnywhere,
     ".husky .pre-commit-config.yaml .overcommit.yml lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml .lefthook "
     "lefthook-local.yml .lefthook-local.yml"},
    {"Mercurial configuration", kAnywhere, ".hgrc hgrc"},
    {"editor tasks", kAnywhere,
     ".vscode .vscode-server .vs .idea .fleet .zed .nova .helix .devcontainer .devcontainer.json .ycm_extra_conf.py"},
    {"editor start-up file", kAnywhere,
     ".vimrc .vim .gvimrc .exrc .nvimrc .nvim.lua .lvimrc .ideavimrc .kakrc .nanorc .emacs .emacs.el .emacs.d .doom.d "
     ".spacemacs .dir-locals.el .dir-locals-2.el"},
    {"agent configuration", kAnywhere,
     ".mcp.json mcp.json .claude .claude.json .cursor .codex .gemini .windsurf .continue .continuerc.json .roo .cline "
     ".clinerules .kilocode .kiro .qwen .amazonq .augment .junie .goose .copilot .factory .trae .agents .openhands "
     ".aider.conf.yml .opencode opencode.json opencode.jsonc .crush.json crush.json"},
    {"debugger start-up file", kAnywhere, ".gdbinit .gdbearlyinit .lldbinit .pdbrc .pdbrc.py .perldb"},
    {"interpreter start-up file", kAnywhere,
     ".irbrc .pryrc .rprofile .renviron .octaverc .ghci .iex.exs .ocamlinit .sbclrc .clisprc .guile .erlang .tclshrc "
     ".pythonrc .pythonrc.py .pythonstartup .ipython .jupyter .sqliterc .psqlrc .my.cnf"},
    {"tool configuration", kAnywhere,
     ".tmux.conf .screenrc .ripgreprc .wgetrc .curlrc .npmrc .pnpmfile.cjs .yarnrc .yarnrc.yml .terraformrc .lesskey "
     ".lessfilter .mailcap .muttrc"},
    {"keys and logins", kAnywhere, ".ssh .gnupg .netrc"},
    {kHook, "**/.github", "hooks"},
    // An unfinished rebase holds a list of commands, "exec program" among them.
    {kState, "**/.git", "worktrees rebase-merge"},
    {kState, "**/.git/modules/**", "worktrees rebase-merge"},
    {"session start-up file", "**/.config",
     "autostart autostart-scripts plasma-workspace environment.d systemd i3 sway hypr awesome bspwm sxhkd "
     "openbox qtile"},
    {"session start-up file", "**/.local/share", "applications systemd dbus-1"},
    {"program on the search path", "**/.local", "bin"},
    {"shell start-up file", "**/.config", "fish bash zsh nushell elvish xonsh powershell"},
    {"directory environment", "**/.config", "direnv mise"},
    {"git configuration", "**/.config", "git"},
    {"Mercurial configuration", "**/.config", "hg"},
    {"Jujutsu configuration", "**/.config", "jj"},
    {"Jujutsu configuration", "**/.jj/repo", "config.toml"},
    {"editor start-up file", "**/.config", "nvim vim emacs doom helix kak micro"},
    {"editor tasks", "**/.config", "code vscodium cursor zed"},
    {"agent configuration", "**/.config", "opencode goose crush claude codex mcp"},
    {"tool configuration", "**/.config", "tmux kitty alacritty ghostty wezterm gdb gh npm yarn ripgrep"},
    {"tool configuration", "**/.yarn", "releases plugins"},
    {"tool configuration", "**/.docker", "config.json cli-plugins"},
    {"keys and logins", "**/.aws", "config credentials cli"},
    {"keys and logins", "**/.kube", "config"},
});

constexpr std::string_view kHookDirectories = "hooks .hooks githooks .githooks git-hooks .git-hooks";

// githooks(5)
constexpr std::string_view kHookNames =
    "applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg "
    "post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update "
    "reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman "
    "p4-changelist p4-prepare-changelist p4-post-changelist p4-pre-submit post-index-change";

// The directories of the rules that NTFS knows by a second name, besides the names in the rules.
constexpr std::string_view kDirectories =
    ".git .config .local .github .yarn .docker .aws .kube .jj .githooks .git-hooks git-hooks worktrees rebase-merge";

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Unicode's default ignorable code points, and U+FFFD, which stands for broken bytes here.
constexpr Range kIgnorable[] = {
    {0x00AD, 0x00AD}, {0x034F, 0x034F}, {0x061C, 0x061C}, {0x115F, 0x1160},   {0x17B4, 0x17B5},   {0x180B, 0x180F},
    {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x206F}, {0x3164, 0x3164},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},
    {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFF8}, {0xFFFD, 0xFFFD}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};

struct Folding {
  std::uint32_t point;
  std::string_view folded;
};

// What Unicode's case folding turns into ASCII.
constexpr Folding kFoldings[] = {{0x00DF, "ss"},  {0x1E9E, "ss"}, {0x017F, "s"},  {0x212A, "k"},
                                 {0xFB00, "ff"},  {0xFB01, "fi"}, {0xFB02, "fl"}, {0xFB03, "ffi"},
                                 {0xFB04, "ffl"}, {0xFB05, "st"}, {0xFB06, "st"}};

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

struct Character {
  std::uint32_t point = 0;
  std::size_t length = 1;
};

// `text` is well-formed UTF-8 and not empty.
Character FirstCharacter(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80U) return {lead, 1};
  Character character{lead, lead < 0xE0U ? 2U : lead < 0xF0U ? 3U : 4U};
  character.point &= 0x7FU >> character.length;
  for (std::size_t i = 1; i < character.length; ++i) {
    character.point = (character.point << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  return character;
}

void AppendFolded(std::string& folded, std::uint32_t point, std::string_view written) {
  constexpr std::uint32_t kFullWidthOffset = 0xFEE0;
  if (point >= 0xFF01 && point <= 0xFF5E) point -= kFullWidthOffset;
  if (point >= 'A' && point <= 'Z') point += 'a' - 'A';
  if (point < 0x80) {
    folded += static_cast<char>(point);
    return;
  }
  if (std::ranges::any_of(kIgnorable, [&](Range range) { return range.first <= point && point <= range.last; })) return;
  const auto folding = std::ranges::find(kFoldings, point, &Folding::point);
  folded += folding == std::end(kFoldings) ? written : folding->folded;
}

// NTFS's second name of a long one: six characters, a number, three of the extension. ".mcp.json" is "mcp~1.jso".
bool IsShortNameOf(std::string_view shortened, std::string_view name) {
  const std::size_t tilde = shortened.find('~');
  const std::string_view number = shortened.substr(tilde + 1);
  if (number.empty() || number.front() < '0' || number.front() > '9') return false;
  if (name.starts_with('.')) name.remove_prefix(1);
  const std::size_t dot = std::min(name.rfind('.'), name.size());
  std::string stem(name.substr(0, dot));
  std::erase(stem, '.');
  return shortened.substr(0, tilde) == stem.substr(0, 6) && number.substr(1) == name.substr(dot).substr(0, 4);
}

std::string LongName(std::string name) {
  if (!name.contains('~')) return name;
  std::string_view found;
  const auto look = [&](std::string_view listed) {
    if (found.empty() && IsShortNameOf(name, listed)) found = listed;
  };
  ForEachWord(kDirectories, " ", look);
  for (const Rule& rule : kRules) ForEachWord(rule.names, " ", look);
  return found.empty() ? name : std::string(found);
}

std::string FoldName(std::string_view name) {
  std::string folded;
  const std::string valid = base::ToValidUtf8(name);
  for (std::string_view rest = valid; !rest.empty();) {
    const Character character = FirstCharacter(rest);
    AppendFolded(folded, character.point, rest.substr(0, character.length));
    rest.remove_prefix(character.length);
  }
  folded.resize(std::min(folded.find(':'), folded.size()));  // a stream of the file
  folded.resize(folded.find_last_not_of(". ") + 1);
  return LongName(std::move(folded));
}

struct FoldedName {
  std::string_view parent;  // "" at the root
  std::string_view name;
};

class FoldedPath {
 public:
  explicit FoldedPath(std::string_view path) {
    ForEachWord(path, "/\\", [&](std::string_view name) {
      const std::string folded = FoldName(name);
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
  const std::vector<FoldedName>& Names() const { return names_; }  // from the root on; one that is empty for ""
  const FoldedName& File() const { return names_.back(); }

 private:
  std::string text_;
  std::vector<FoldedName> names_;  // in text_
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

// The rules of one name in the order of the table: the first that fits gives the reason.
using RulesByName = std::multimap<std::string_view, const Rule*>;

// Every name of every changed path is looked up, so the lists are not searched each time.
const RulesByName& Index() {
  static const RulesByName index = [] {
    RulesByName rules;
    for (const Rule& rule : kRules) {
      ForEachWord(rule.names, " ", [&](std::string_view name) { rules.emplace(name, &rule); });
    }
    return rules;
  }();
  return index;
}

std::optional<std::string_view> ReasonOfName(const FoldedName& name) {
  if (name.name.ends_with(".code-workspace")) return "editor tasks";
  const auto [first, last] = Index().equal_range(name.name);
  for (const auto& [listed, rule] : std::ranges::subrange(first, last)) {
    if (rule->parent == kAnywhere || base::GlobMatch(rule->parent, name.parent)) return rule->reason;
  }
  return std::nullopt;
}

std::optional<std::string_view> Reason(const FoldedPath& path, InGitDirectory in_git_directory) {
  for (const FoldedName& name : path.Names()) {
    if (const auto reason = ReasonOfName(name)) return reason;
  }
  if (IsHook(path, in_git_directory)) return kHook;
  const FoldedName& file = path.File();
  // Remotes from before there was a configuration file. The directory itself, empty, is in every new repository.
  if (IsBelow(file, "**/.git/remotes") || IsBelow(file, "**/.git/branches")) return "git configuration";
  const bool state = IsBelow(file, "**/worktrees") || IsBelow(file, "**/rebase-merge");
  if (state && in_git_directory == InGitDirectory::kYes) return kState;
  return std::nullopt;
}

ContentQuestion Question(const FoldedName& file, InGitDirectory in_git_directory) {
  if (file.name == ".git") return ContentQuestion::kGitLink;
  if (!Lists("config config.worktree", file.name)) return ContentQuestion::kNone;
  const bool by_name = base::GlobMatch("**/.git", file.parent) || IsBelow(file, "**/.git/modules");
  return by_name || in_git_directory == InGitDirectory::kYes ? ContentQuestion::kGitConfig : ContentQuestion::kNone;
}

// True when a rule looks at what is below this directory.
bool LeadsToRule(const FoldedPath& path) {
  if (Lists(kHookDirectories, path.File().name)) return true;
  return std::ranges::any_of(kRules, [&](const Rule& rule) {
    if (rule.parent == kAnywhere) return false;
    const std::size_t slash = rule.parent.find('/', std::string_view("**/").size());
    return base::GlobMatch(rule.parent, path.Text()) || base::GlobMatch(rule.parent.substr(0, slash), path.Text());
  });
}

// Names that are compared as they are written: where a link leads must not depend on what a file system forgives.
std::vector<std::string_view> PlainNames(std::string_view path) {
  std::vector<std::string_view> names;
  ForEachWord(path, "/", [&](std::string_view name) { names.push_back(name); });
  return names;
}

// Where the link leads, from the workspace's root on. Nothing when that is outside or hard to say: ".." after a name
// goes wherever a symbolic link of that name says.
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

PathVerdict Judge(std::string_view path, InGitDirectory in_git_directory) {
  const FoldedPath folded(path);
  in_git_directory = WithoutRefs(folded.File(), in_git_directory);
  if (const auto reason = Reason(folded, in_git_directory)) return {std::string(*reason), ContentQuestion::kNone};
  return {std::nullopt, Question(folded.File(), in_git_directory)};
}

std::optional<std::string> JudgeGitLink(std::string_view path, std::string_view content) {
  constexpr std::string_view kKey = "gitdir: ";
  if (!content.starts_with(kKey)) return std::string(kLink);
  std::string_view link = content.substr(kKey.size());
  if (link.ends_with('\n')) link.remove_suffix(1);
  const bool control = std::ranges::any_of(link, [](char c) { return static_cast<unsigned char>(c) < 0x20U; });
  const auto target = Target(path, link);
  if (control || !target) return std::string(kLink);
  const std::span<const std::string_view> from_git(std::ranges::find(*target, ".git"), target->end());
  const bool submodule = from_git.size() > 2 && from_git[1] == "modules";
  return submodule || from_git.size() == 1 ? std::nullopt : std::optional<std::string>(kLink);
}

std::optional<std::string> JudgeSymbolicLink(std::string_view path, InGitDirectory in_git_directory) {
  const FoldedPath folded(path);
  if (const auto reason = Reason(folded, in_git_directory)) return std::string(*reason);
  const bool in_git = std::ranges::find(folded.Names(), ".git", &FoldedName::name) != folded.Names().end();
  if (in_git || in_git_directory == InGitDirectory::kYes) return std::string(kLink);
  if (LeadsToRule(folded)) return "link in place of a protected directory";
  return std::nullopt;
}

}  // namespace skerry::policy
