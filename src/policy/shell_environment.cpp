#include "policy/shell_environment.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "policy/shell_arguments.hpp"
#include "policy/shell_flow.hpp"
#include "policy/shell_paths.hpp"
#include "policy/shell_rules.hpp"

namespace skerry::policy {

using enum core::RiskLevel;

const Rule kShellEnvironment{"shell.environment", kHigh, "A variable that makes other programs run code."};
const Rule kShellSearchPath{"shell.search-path", kMedium, "Changes which programs are found, or how words are split."};

namespace {

// Variables that make programs run other code, by kind of program: the loader, shells, Python, other interpreters, Java
// and .NET, git and the like, build tools, others.
constexpr std::string_view kCodeVariables =
    "LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT LD_DEBUG_OUTPUT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH GCONV_PATH LOCPATH "
    "BASH_ENV ENV ZDOTDIR PROMPT_COMMAND PS0 PS4 SHELLOPTS BASHOPTS BASH_LOADABLES_PATH "
    "PYTHONSTARTUP PYTHONHOME PYTHONINSPECT PYTHONBREAKPOINT PYTHONWARNINGS PYTHONUSERBASE PYTHONPLATLIBDIR "
    "PYTHONPYCACHEPREFIX PYTHONEXECUTABLE PYTEST_PLUGINS PYTEST_ADDOPTS COVERAGE_PROCESS_START PIP_CONFIG_FILE "
    "PIP_PYTHON MATPLOTLIBRC "
    "PERL5OPT PERL5LIB PERLLIB PERL5DB PERL5SHELL PERLDB_OPTS RUBYOPT RUBYLIB GEM_HOME GEM_PATH BUNDLE_GEMFILE "
    "NODE_OPTIONS NODE_REPL_EXTERNAL_MODULE BUN_OPTIONS YARN_YARN_PATH YARN_RC_FILENAME YARN_PLUGINS PHPRC "
    "PHP_INI_SCAN_DIR R_PROFILE R_PROFILE_USER R_ENVIRON R_ENVIRON_USER R_LIBS R_LIBS_USER R_HOME JULIA_LOAD_PATH "
    "JULIA_DEPOT_PATH ERL_FLAGS ERL_AFLAGS ERL_ZFLAGS ERL_LIBS ELIXIR_ERL_OPTIONS TCLLIBPATH TCL_LIBRARY "
    "GUILE_LOAD_PATH EMACSLOADPATH "
    "JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JAVA_OPTS CLASSPATH MAVEN_OPTS GRADLE_OPTS SBT_OPTS "
    "DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS CORECLR_PROFILER CORECLR_PROFILER_PATH "
    "GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_ASKPASS GIT_PROXY_COMMAND GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_DIR "
    "GIT_COMMON_DIR GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_SEQUENCE_EDITOR SSH_ASKPASS SUDO_ASKPASS SSH_SK_PROVIDER "
    "SVN_SSH CVS_RSH HGRCPATH "
    "MAKEFLAGS MFLAGS MAKEFILES GNUMAKEFLAGS RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTC RUSTFLAGS CARGO_HOME GOFLAGS "
    "GCC_EXEC_PREFIX COMPILER_PATH CCACHE_PREFIX CCACHE_COMPILER CMAKE_TOOLCHAIN_FILE "
    "LESSOPEN LESSCLOSE LESSKEY LESSKEYIN LESSKEY_SYSTEM LESSKEYIN_SYSTEM MANOPT RIPGREP_CONFIG_PATH TAR_OPTIONS "
    "RSYNC_RSH OPENSSL_CONF OPENSSL_MODULES OPENSSL_ENGINES GTK_MODULES GTK_PATH GIO_MODULE_DIR QT_PLUGIN_PATH "
    "GST_PLUGIN_PATH VK_LAYER_PATH VK_ICD_FILENAMES LIBGL_DRIVERS_PATH INPUTRC VIMINIT EXINIT VIM VIMRUNTIME MYVIMRC "
    "SCREENRC PSQLRC HELM_PLUGINS TF_CLI_CONFIG_FILE";
constexpr std::string_view kCodePrefixes =
    "GIT_CONFIG_ BASH_FUNC_ npm_config_ NPM_CONFIG_ LUA_INIT LUA_PATH LUA_CPATH TF_CLI_ARGS";

// Variables that say where programs have their settings, some of which are code: grave where any program may have
// written there.
constexpr std::string_view kHomeVariables =
    "HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CONFIG_DIRS XDG_DATA_DIRS CURL_HOME GNUPGHOME DOCKER_CONFIG "
    "IPYTHONDIR JUPYTER_CONFIG_DIR JUPYTER_CONFIG_PATH JUPYTER_PATH JAVA_HOME MAVEN_HOME M2_HOME ANT_HOME "
    "GRADLE_USER_HOME GOROOT GOENV DOTNET_ROOT COMPOSER_HOME KUBECONFIG ANSIBLE_CONFIG WGETRC AWS_CONFIG_FILE";
constexpr auto kWritablePlaces =
    std::to_array<std::string_view>({"/workspace", "/tmp", "/var/tmp", "/dev", "/run", "/proc"});

constexpr std::string_view kSearchVariables = "PATH IFS PYTHONPATH NODE_PATH CDPATH VIRTUAL_ENV";
constexpr auto kSearchPaths = std::to_array<SearchVariable>(
    {{"PATH", std::nullopt}, {"PYTHONPATH", core::Language::kPython}, {"NODE_PATH", core::Language::kJavaScript}});

constexpr std::string_view kCommandVariables =
    "PROMPT_COMMAND PS0 PS4 ENV GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_ASKPASS "
    "PAGER MANPAGER SYSTEMD_PAGER PSQL_PAGER AWS_PAGER GH_PAGER BAT_PAGER DELTA_PAGER "
    "EDITOR VISUAL FCEDIT SUDO_EDITOR SYSTEMD_EDITOR SVN_EDITOR HGEDITOR KUBE_EDITOR PSQL_EDITOR GH_EDITOR LESSEDIT "
    "BROWSER RSYNC_RSH LESSOPEN LESSCLOSE FZF_DEFAULT_COMMAND "
    "CC CXX CPP LD AR AS FC F77 HOSTCC NVCC M4 YACC LEX PKG_CONFIG CMAKE_C_COMPILER_LAUNCHER "
    "CMAKE_CXX_COMPILER_LAUNCHER";
constexpr std::string_view kShellVariables = "SHELL CONFIG_SHELL";

// The options of less that take no file and no commands.
constexpr std::string_view kLessLetters = "aAcCdeEfFgGhiIjJKLmMnNqQrRsSuUVwWxXyz0123456789.,";
constexpr std::string_view kLessOptions =
    "--RAW-CONTROL-CHARS --raw-control-chars --quit-if-one-screen --no-init --chop-long-lines --ignore-case "
    "--IGNORE-CASE --quit-on-intr --LONG-PROMPT --long-prompt --LINE-NUMBERS --line-numbers --use-color --mouse "
    "--quiet "
    "--silent --QUIET --SILENT --quit-at-eof --QUIT-AT-EOF --squeeze-blank-lines --hilite-search --HILITE-SEARCH "
    "--version --help";

bool IsIn(std::string_view path, std::string_view place) {
  return path.starts_with(place) && (path.size() == place.size() || path[place.size()] == '/');
}

// An unknown place may be writable.
bool IsWritable(std::string_view path, std::string_view directory) {
  if (path.empty()) return false;
  if (path.contains(kShellHole) || path.contains(kShellNetwork) || path.contains(kShellDecoded)) return true;
  const std::string plain = PlainPath(path, directory);
  if (!plain.starts_with('/')) return !plain.starts_with(kShellHome);
  return std::ranges::any_of(kWritablePlaces, [&](std::string_view place) { return IsIn(plain, place); });
}

template <typename Predicate>
bool AnyPart(std::string_view list, char separator, Predicate&& predicate) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(separator), list.size());
    if (predicate(list.substr(0, end))) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

// In the variable LESS every word is an option, with or without a dash.
bool OrdersLess(std::string_view value) {
  return AnyPart(value, ' ', [](std::string_view word) {
    if (word.starts_with('-')) return !IsHarmlessForLess(word);
    return word.find_first_not_of(kLessLetters) != std::string_view::npos;
  });
}

bool MakesCode(std::string_view variable, std::string_view value, std::string_view directory) {
  if (ListsWord(kCodeVariables, variable) || ListsPrefix(kCodePrefixes, variable)) return true;
  if (variable == "LESS" || variable == "MORE") return OrdersLess(value);
  if (variable == "MPLBACKEND") return value.contains("://") || value.contains(kShellHole);
  if (!ListsWord(kHomeVariables, variable)) return false;
  return AnyPart(value, ':', [&](std::string_view path) { return IsWritable(path, directory); });
}

}  // namespace

bool IsHarmlessForLess(std::string_view word) {
  const std::string_view rest = word.substr(std::min<std::size_t>(1, word.size()));
  const auto only = [&](std::string_view letters) { return rest.find_first_not_of(letters) == std::string_view::npos; };
  if (word.starts_with("--")) return ListsWord(kLessOptions, word);
  if (word.starts_with('-')) return only(kLessLetters);
  if (!word.starts_with('+')) return true;
  // Where to begin; text behind a line end is another command.
  return rest == "F" || rest == "G" || only("0123456789g%") || (rest.starts_with('/') && !rest.contains('\n'));
}

bool IsWatchedVariable(std::string_view variable) {
  const auto lists = {kCodeVariables,    kHomeVariables,  kSearchVariables,
                      kCommandVariables, kShellVariables, std::string_view("LESS MORE MPLBACKEND")};
  return ListsPrefix(kCodePrefixes, variable) ||
         std::ranges::any_of(lists, [&](std::string_view list) { return ListsWord(list, variable); });
}

const Rule* RuleForVariable(std::string_view variable, std::string_view value, std::string_view directory) {
  if (MakesCode(variable, value, directory)) return &kShellEnvironment;
  const bool searches = ListsWord(kSearchVariables, variable) || ListsWord(kHomeVariables, variable);
  return searches ? &kShellSearchPath : nullptr;
}

bool HoldsCommand(std::string_view variable, std::string_view value) {
  const std::size_t slash = value.rfind('/');
  const bool in_place = slash == std::string_view::npos || IsStandardDirectory(value.substr(0, slash));
  if (ListsWord(kShellVariables, variable)) return !in_place || value.contains(' ');
  if (!ListsWord(kCommandVariables, variable)) return false;
  // An editor or a pager without further commands is harmless.
  const std::size_t end = std::min(value.find(' '), value.size());
  const std::string_view name = BaseName(value.substr(0, end));
  if (!in_place || !HasShellTrait(name, ShellTrait::kTakesTypedOrders)) return true;
  return end < value.size() && (name != "less" || OrdersLess(value.substr(end + 1)));
}

const SearchVariable* SearchVariableOf(std::string_view variable) {
  const auto found = std::ranges::find(kSearchPaths, variable, &SearchVariable::name);
  return found == kSearchPaths.end() ? nullptr : &*found;
}

}  // namespace skerry::policy
