#include "cli/run_options.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "cli/command.hpp"
#include "cli/images.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"

namespace skerry::cli {
namespace {

constexpr std::size_t kMaxCodeBytes = 16U << 20U;

base::Result<std::string> ReadCodeFile(const std::string& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) < 0) return os::ErrnoErr("file '" + path + "'");
  if (S_ISDIR(facts.st_mode))
    return base::Err(base::Code::kInvalidArgument, path + ": is a directory, not a file with code");
  return os::ReadFile(path, kMaxCodeBytes);
}

base::Result<std::string> ReadCode(const RunOptions& options) {
  if (options.file && options.code)
    return base::Err(base::Code::kInvalidArgument, "give the code as an argument or with --file, not both");
  if (CodeComesFromStdin(options)) return os::ReadAll(STDIN_FILENO, kMaxCodeBytes);
  if (options.file) return ReadCodeFile(*options.file);
  if (options.code) return *options.code;
  return base::Err(base::Code::kInvalidArgument,
                   "there is no code to run; give it as an argument, with --file FILE, or as - for stdin");
}

// What --language says, else what the file's name says, else Python.
base::Result<core::Language> ChooseLanguage(const RunOptions& options) {
  if (options.language) return core::ParseLanguage(*options.language);
  const std::string file = options.file.value_or("");
  const auto dot = file.find_last_of('.');
  const std::string extension = dot == std::string::npos ? "" : file.substr(dot + 1);
  if (extension == "mjs" || extension == "cjs") return core::Language::kJavaScript;
  return core::ParseLanguage(extension == "js" || extension == "sh" || extension == "bash" ? extension : "python");
}

void Append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// An option's path is relative to where the command was typed, unlike one in the configuration, which lies in the
// workspace.
std::vector<std::string> FromHere(const std::vector<std::string>& paths) {
  std::vector<std::string> absolute;
  for (const std::string& path : paths)
    absolute.push_back(path.starts_with('/') || path.starts_with('~')
                           ? path
                           : std::filesystem::absolute(path).lexically_normal().string());
  return absolute;
}

engine::FilesystemOptions FilesystemOf(const RunOptions& options, const config::Sandbox& sandbox) {
  const config::Filesystem& settings = sandbox.filesystem;
  engine::FilesystemOptions filesystem{
      .allow_read = settings.allow_read,
      .deny_read = settings.deny_read,
      .allow_write = settings.allow_write,
      .deny_write = settings.deny_write,
      .dangerously_allow = settings.dangerously_allow,
      .home = Context::Home(),
      .own_directories = {Context::Home() + "/.skerry",
                          config::ExpandHome(sandbox.workspace.base_dir, Context::Home())}};
  Append(filesystem.allow_read, FromHere(options.allow_read));
  Append(filesystem.allow_write, FromHere(options.allow_write));
  Append(filesystem.dangerously_allow, FromHere(options.dangerously_allow));
  return filesystem;
}

base::Result<engine::LeasedRoot> AcquireImage(const std::string& name) {
  SKERRY_ASSIGN_OR_RETURN(const image::ImageStore store, OpenImageStore());
  SKERRY_ASSIGN_OR_RETURN(image::ImageLease acquired, store.Acquire(name));
  auto lease = std::make_shared<const image::ImageLease>(std::move(acquired));
  const core::RootFileSystem root{
      .path = lease->root_path, .fd = lease->root_fd.get(), .environment = lease->environment};
  return engine::LeasedRoot{root, std::move(lease)};
}

}  // namespace

bool CodeComesFromStdin(const RunOptions& options) {
  return !options.file && options.code == "-";
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

engine::ManagerOptions ManagerOptionsOf(const RunOptions& options, const config::Sandbox& sandbox) {
  const config::Limits& limits = sandbox.limits;
  const auto number = [](int value) { return static_cast<std::uint64_t>(value); };
  return {.mode = sandbox.security == config::SecurityMode::kStrict ? policy::SecurityMode::kStrict
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
          .acquire_root = AcquireImage};
}

base::Result<core::ExecutionRequest> RequestOf(const RunOptions& options, const config::Sandbox& sandbox) {
  if (!sandbox.enabled || sandbox.mode == config::LifeMode::kDisabled)
    return base::Err(
        base::Code::kDisabled,
        "sandboxing is disabled by the configuration, and code is not run without; see skerry config show");
  if (options.terminal && options.json)
    return base::Err(base::Code::kInvalidArgument,
                     "--tty passes a terminal through and --json collects; use one of them");
  if (!options.allowed_domains.empty())
    return base::Err(base::Code::kUnavailable,
                     "--allow-domain: this version has no egress proxy yet, a sandbox has no network at all");
  core::ExecutionRequest request;
  SKERRY_ASSIGN_OR_RETURN(request.language, ChooseLanguage(options));
  SKERRY_ASSIGN_OR_RETURN(request.code, ReadCode(options));
  request.timeout = sandbox.limits.timeout;
  request.sandbox_type = options.sandbox;
  request.max_memory_mb = static_cast<std::uint64_t>(sandbox.limits.max_memory_mb);
  request.max_output_mb =
      static_cast<std::uint64_t>(options.json ? sandbox.limits.max_output_mb : sandbox.limits.max_stream_mb);
  request.workspace = options.workspace;
  request.image = options.image;
  return request;
}

}  // namespace skerry::cli
