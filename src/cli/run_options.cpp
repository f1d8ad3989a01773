#include "cli/run_options.hpp"

#include <filesystem>
#include <memory>

#include "base/printable.hpp"
#include "cli/command.hpp"
#include "cli/gate_options.hpp"
#include "cli/images.hpp"

namespace skerry::cli {
namespace {

// The language of --language, else of the file's extension, else Python.
base::Result<core::Language> ChooseLanguage(const RunOptions& options) {
  if (options.language) return core::ParseLanguage(*options.language);
  return LanguageOfFile(options.source.file.value_or(""));
}

// A name of a file in the place of code is a slip: no code looks like one that is there.
base::Status CheckIsNoFile(const CodeSource& source) {
  if (!source.code || source.file || source.IsStdin() || source.code->find_first_of(" \t\n") != std::string::npos)
    return {};
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(*source.code, ignored)) return {};
  return base::Err(base::Code::kInvalidArgument, base::Printable(base::Excerpt(*source.code)) +
                                                     " is a file, not code; did you mean skerry run -f " +
                                                     base::Printable(base::Excerpt(*source.code)) + "?");
}

void Append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// An option's path is relative to the current directory, unlike one in the configuration, which is relative to the
// workspace.
std::vector<std::string> FromHere(const std::vector<std::string>& paths) {
  std::vector<std::string> absolute;
  absolute.reserve(paths.size());
  for (const std::string& path : paths)
    absolute.push_back(path.starts_with('/') || path.starts_with('~')
                           ? path
                           : std::filesystem::absolute(path).lexically_normal().string());
  return absolute;
}

bool IsDisabled(const config::Sandbox& sandbox) {
  return !sandbox.enabled || sandbox.mode == config::LifeMode::kDisabled;
}

engine::FilesystemOptions FilesystemOf(const RunOptions& options, const config::Sandbox& sandbox) {
  const config::Filesystem& settings = sandbox.filesystem;
  engine::FilesystemOptions filesystem{
      .allow_read = settings.allow_read,
      .deny_read = settings.deny_read,
      .allow_write = settings.allow_write,
      .deny_write = settings.deny_write,
      .protect = settings.protect,
      .dangerously_allow = settings.dangerously_allow,
      .home = Context::Home(),
      .own_directories = {Context::Home() + "/.skerry",
                          config::ExpandHome(sandbox.workspace.base_dir, Context::Home())},
      .state_directory = Context::Home().empty() ? "" : Context::Home() + "/.skerry"};
  Append(filesystem.allow_read, FromHere(options.allow_read));
  Append(filesystem.allow_write, FromHere(options.allow_write));
  Append(filesystem.dangerously_allow, FromHere(options.dangerously_allow));
  return filesystem;
}

// The image stays for as long as its directory is held.
base::Result<core::RootFileSystem> AcquireImage(const std::string& name) {
  struct Leased {
    image::ImageLease lease;
    core::HostPlace place;
  };
  SKERRY_ASSIGN_OR_RETURN(const image::ImageStore store, OpenImageStore());
  SKERRY_ASSIGN_OR_RETURN(image::ImageLease acquired, store.Acquire(name));
  auto leased = std::make_shared<Leased>(std::move(acquired));
  leased->place = {.path = leased->lease.root_path, .fd = std::move(leased->lease.root_fd)};
  return core::RootFileSystem{.directory = core::SharedPlace(leased, &leased->place),
                              .environment = leased->lease.environment};
}

}  // namespace

base::Result<std::vector<std::string>> ArgumentsOf(const RunOptions& options) {
  const bool marked = !options.rest.empty() && options.rest.front() == "--";
  std::vector<std::string> arguments(options.rest.begin() + (marked ? 1 : 0), options.rest.end());
  if (options.argument) arguments.insert(arguments.begin(), *options.argument);
  // What the line has in the place of the code.
  if (options.source.file && options.source.code) arguments.insert(arguments.begin(), *options.source.code);
  if (marked || arguments.empty()) return arguments;
  if (options.source.file)
    return base::Err(base::Code::kInvalidArgument,
                     "give the code as an argument or with --file, not both; the arguments of the file come behind --");
  return base::Err(base::Code::kInvalidArgument,
                   "what is " + base::Printable(base::Excerpt(arguments.front())) +
                       "? Code is one argument, in quotes; its own arguments come behind --; see skerry run --help");
}

std::vector<config::Override> OverridesOf(const RunOptions& options) {
  std::vector<config::Override> overrides;
  const auto add = [&](const std::optional<std::string>& value, const char* path, const char* flag) {
    if (value) overrides.push_back({path, *value, flag});
  };
  add(options.timeout, "sandbox.limits.timeout", "--timeout");
  add(options.memory, "sandbox.limits.maxMemoryMb", "--memory");
  add(options.max_output, options.json ? "sandbox.limits.maxOutputMb" : "sandbox.limits.maxStreamMb", "--max-output");
  add(options.mode, "sandbox.security", "--mode");
  add(options.cpu, "sandbox.limits.maxCpuPercent", "--cpu");
  add(options.disk, "sandbox.workspace.maxSizeMb", "--disk");
  return overrides;
}

base::Result<engine::ManagerOptions> ManagerOptionsOf(const RunOptions& options, const config::Sandbox& sandbox) {
  const config::Limits& limits = sandbox.limits;
  if (!sandbox.network.allowed_domains.empty())
    return base::Err(
        base::Code::kUnavailable,
        "sandbox.network.allowedDomains: this version has no egress proxy yet, a sandbox has no network at "
        "all; leave it out");
  SKERRY_ASSIGN_OR_RETURN(engine::GateOptions gate, GateOptionsOf(sandbox));
  const auto number = [](int value) { return static_cast<std::uint64_t>(value); };
  return engine::ManagerOptions{
      .sandboxing = IsDisabled(sandbox) ? engine::Sandboxing::kDisabled : engine::Sandboxing::kEnabled,
      .mode = sandbox.security == config::SecurityMode::kStrict ? policy::SecurityMode::kStrict
                                                                : policy::SecurityMode::kPermissive,
      .default_backend = sandbox.backend,
      .limits = {.memory_mb = number(limits.max_memory_mb),
                 .pids = number(limits.max_pids),
                 .cpu_percent = number(limits.max_cpu_percent),
                 .open_files = number(limits.max_open_files),
                 .file_mb = number(limits.max_file_mb),
                 .tmp_mb = number(limits.tmp_mb),
                 .disk_mb = number(sandbox.workspace.max_size_mb),
                 .disk_files = number(limits.max_files)},
      .filesystem = FilesystemOf(options, sandbox),
      .acquire_root = AcquireImage,
      .environment = VariablesOf(sandbox.environment),
      .secrets = SecretsOf(sandbox.secrets, Context::Home()),
      .gate = std::move(gate)};
}

base::Result<core::ExecutionRequest> RequestOf(const RunOptions& options, const config::Sandbox& sandbox) {
  if (IsDisabled(sandbox) && sandbox.security == config::SecurityMode::kStrict)
    return base::Err(
        base::Code::kDisabled,
        "sandboxing is disabled by the configuration, and strict security runs nothing without; enable it, "
        "or set sandbox.security to permissive and rely on the local guard");
  if (options.terminal && options.json)
    return base::Err(base::Code::kInvalidArgument,
                     "--tty passes a terminal through and --json collects; use one of them");
  if (options.dry_run && !options.workspace && !options.session)
    return base::Err(base::Code::kInvalidArgument,
                     "--dry-run shows what would change in a --workspace or a --session; without one nothing stays");
  if (options.session && options.workspace)
    return base::Err(base::Code::kInvalidArgument, "a session has a workspace of its own: --session or --workspace");
  if (!options.allowed_domains.empty())
    return base::Err(base::Code::kUnavailable,
                     "--allow-domain: this version has no egress proxy yet, a sandbox has no network at all");
  SKERRY_RETURN_IF_ERROR(CheckIsNoFile(options.source));
  CodeSource source = options.source;
  if (source.file) source.code.reset();  // an argument of the file
  core::ExecutionRequest request;
  SKERRY_ASSIGN_OR_RETURN(request.language, ChooseLanguage(options));
  SKERRY_ASSIGN_OR_RETURN(request.code, ReadCode(source));
  if (options.source.file) request.code_name = std::filesystem::path(*options.source.file).filename().string();
  SKERRY_ASSIGN_OR_RETURN(request.code_arguments, ArgumentsOf(options));
  SKERRY_ASSIGN_OR_RETURN(GivenEnvironment given, ReadEnvironment(options.environment));
  request.environment = std::move(given.values);
  for (auto& [name, value] : given.secrets) {
    request.secrets.insert(name);
    request.environment.emplace(name, std::move(value));
  }
  request.timeout = sandbox.limits.timeout;
  request.sandbox_type = options.sandbox;
  request.max_memory_mb = static_cast<std::uint64_t>(sandbox.limits.max_memory_mb);
  request.max_output_mb =
      static_cast<std::uint64_t>(options.json ? sandbox.limits.max_output_mb : sandbox.limits.max_stream_mb);
  request.workspace = options.workspace;
  request.image = options.image;
  request.carry = options.dry_run ? core::Carry::kShow : core::Carry::kCommit;
  request.caused_by = options.caused_by;
  return request;
}

}  // namespace skerry::cli
