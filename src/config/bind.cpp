#include "config/bind.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace skerry::config {
namespace {

template <class Enum>
using Choice = std::pair<std::string_view, Enum>;

constexpr std::array kLifeModes = {Choice<LifeMode>{"per-session", LifeMode::kPerSession},
                                   Choice<LifeMode>{"shared", LifeMode::kShared},
                                   Choice<LifeMode>{"disabled", LifeMode::kDisabled}};
constexpr std::array kSecurityModes = {Choice<SecurityMode>{"strict", SecurityMode::kStrict},
                                       Choice<SecurityMode>{"permissive", SecurityMode::kPermissive}};
constexpr std::array kConfirmLevels = {Choice<ConfirmFrom>{"high", ConfirmFrom::kHigh},
                                       Choice<ConfirmFrom>{"critical", ConfirmFrom::kCritical},
                                       Choice<ConfirmFrom>{"never", ConfirmFrom::kNever}};
constexpr std::array kOpenSandboxModes = {Choice<OpenSandboxMode>{"local", OpenSandboxMode::kLocal},
                                          Choice<OpenSandboxMode>{"vke", OpenSandboxMode::kVke}};

constexpr const auto& ChoicesOf(LifeMode /*kind*/) {
  return kLifeModes;
}
constexpr const auto& ChoicesOf(SecurityMode /*kind*/) {
  return kSecurityModes;
}
constexpr const auto& ChoicesOf(ConfirmFrom /*kind*/) {
  return kConfirmLevels;
}
constexpr const auto& ChoicesOf(OpenSandboxMode /*kind*/) {
  return kOpenSandboxModes;
}

template <class Rep, class Period>
void Convert(const Json& value, std::chrono::duration<Rep, Period>& member) {
  member = std::chrono::duration<Rep, Period>(value.get<std::int64_t>());
}

template <class T>
void Convert(const Json& value, T& member) {
  if constexpr (std::is_enum_v<T>) {
    for (const auto& [name, choice] : ChoicesOf(T{})) {
      if (value == name) member = choice;
    }
  } else {
    value.get_to(member);
  }
}

// Reads relative to a section, and remembers what was read and what was not there.
class Section {
 public:
  struct Record {
    std::set<std::string, std::less<>> read;
    std::string missing;
  };

  Section(const Layer& layers, Record& record, std::string path)
      : layers_(layers), record_(record), path_(std::move(path)) {}

  [[nodiscard]] Section Child(std::string_view name) const { return {layers_, record_, JoinPath(path_, name)}; }

  template <class T>
  void Read(std::string_view name, T& member) const {
    const std::string path = JoinPath(path_, name);
    const auto found = layers_.find(path);
    if (found == layers_.end()) {
      record_.missing = path;
      return;
    }
    record_.read.insert(path);
    Convert(found->second.value, member);
  }

 private:
  const Layer& layers_;
  Record& record_;
  std::string path_;
};

void BindNetwork(const Section& section, Network& network) {
  section.Read("allowedDomains", network.allowed_domains);
  section.Read("deniedDomains", network.denied_domains);
  section.Read("allowLocalBinding", network.allow_local_binding);
}

void BindPolicy(const Section& section, Policy& policy) {
  section.Read("rules", policy.rules);
  section.Read("commands", policy.commands);
  section.Read("modules", policy.modules);
  section.Read("allow", policy.allow);
}

void BindFilesystem(const Section& section, Filesystem& filesystem) {
  section.Read("allowRead", filesystem.allow_read);
  section.Read("denyRead", filesystem.deny_read);
  section.Read("allowWrite", filesystem.allow_write);
  section.Read("denyWrite", filesystem.deny_write);
  section.Read("protect", filesystem.protect);
  section.Read("dangerouslyAllow", filesystem.dangerously_allow);
}

void BindRuntime(const Section& section, Runtime& runtime) {
  section.Read("cleanupOnExit", runtime.cleanup_on_exit);
  section.Read("timeout", runtime.timeout);
}

void BindLimits(const Section& section, Limits& limits) {
  section.Read("timeout", limits.timeout);
  section.Read("maxMemoryMb", limits.max_memory_mb);
  section.Read("maxOutputMb", limits.max_output_mb);
  section.Read("maxStreamMb", limits.max_stream_mb);
  section.Read("maxPids", limits.max_pids);
  section.Read("maxCpuPercent", limits.max_cpu_percent);
  section.Read("maxOpenFiles", limits.max_open_files);
  section.Read("maxFileMb", limits.max_file_mb);
  section.Read("maxFiles", limits.max_files);
  section.Read("tmpMb", limits.tmp_mb);
}

void BindWorkspace(const Section& section, Workspace& workspace) {
  section.Read("baseDir", workspace.base_dir);
  section.Read("maxSizeMb", workspace.max_size_mb);
  section.Read("cleanupAfterHours", workspace.cleanup_after);
  section.Read("source", workspace.source);
  section.Read("bootstrapFiles", workspace.bootstrap_files);
}

void BindApprovals(const Section& section, Approvals& approvals) {
  section.Read("webhookUrl", approvals.webhook_url);
  section.Read("webhookSecret", approvals.webhook_secret);
}

void BindMonitor(const Section& section, Monitor& monitor) {
  section.Read("intervalMs", monitor.interval);
  section.Read("history", monitor.history);
  section.Read("cpuAlertPercent", monitor.cpu_alert_percent);
  section.Read("memoryAlertPercent", monitor.memory_alert_percent);
  section.Read("alertHold", monitor.alert_hold);
}

void BindLog(const Section& section, Log& log) {
  section.Read("level", log.level);
  section.Read("format", log.format);
  section.Read("code", log.code);
}

void BindTelemetry(const Section& section, Telemetry& telemetry) {
  section.Read("otlpEndpoint", telemetry.otlp_endpoint);
  section.Read("otlpHeaders", telemetry.otlp_headers);
}

void BindDaemon(const Section& section, Daemon& daemon) {
  section.Read("socket", daemon.socket);
  section.Read("listen", daemon.listen);
  section.Read("tlsCertificate", daemon.tls_certificate);
  section.Read("tlsKey", daemon.tls_key);
  section.Read("allowedHosts", daemon.allowed_hosts);
  section.Read("allowedOrigins", daemon.allowed_origins);
  section.Read("sessionTtl", daemon.session_ttl);
  section.Read("idleTimeout", daemon.idle_timeout);
  section.Read("maxSessions", daemon.max_sessions);
  section.Read("maxConnections", daemon.max_connections);
  section.Read("requestsPerSecond", daemon.requests_per_second);
  section.Read("concurrentRuns", daemon.concurrent_runs);
  section.Read("sessionsPerToken", daemon.sessions_per_token);
  section.Read("keepResults", daemon.keep_results);
  section.Read("drainTimeout", daemon.drain_timeout);
  section.Read("memoryMb", daemon.memory_mb);
}

void BindBudgets(const Section& section, Budgets& budgets) {
  section.Read("outputMb", budgets.output_mb);
  section.Read("outputPerTenantMb", budgets.output_per_tenant_mb);
  section.Read("spoolMb", budgets.spool_mb);
  section.Read("spoolPerTenantMb", budgets.spool_per_tenant_mb);
  section.Read("recordMb", budgets.record_mb);
  section.Read("recordPerTenantMb", budgets.record_per_tenant_mb);
  section.Read("recordPerRunMb", budgets.record_per_run_mb);
  section.Read("auditMb", budgets.audit_mb);
  section.Read("auditPerTenantMb", budgets.audit_per_tenant_mb);
  section.Read("reserveMb", budgets.reserve_mb);
}

void BindPool(const Section& section, Pool& pool) {
  section.Read("maxInstances", pool.max_instances);
  section.Read("minInstances", pool.min_instances);
  section.Read("idleTimeoutSeconds", pool.idle_timeout);
  section.Read("maxUseCount", pool.max_use_count);
  section.Read("cleanupInterval", pool.cleanup_interval);
}

void BindServer(const Section& section, OpenSandboxServer& server) {
  section.Read("serverUrl", server.server_url);
  section.Read("apiKey", server.api_key);
  section.Read("defaultImage", server.default_image);
}

void BindVke(const Section& section, Vke& vke) {
  BindServer(section, vke.server);
  section.Read("namespace", vke.kubernetes_namespace);
  section.Read("kubeconfigPath", vke.kubeconfig_path);
  section.Read("tos.enabled", vke.tos.enabled);
  section.Read("tos.mountPath", vke.tos.mount_path);
  section.Read("tos.pvcName", vke.tos.pvc_name);
}

void BindOpenSandbox(const Section& section, OpenSandbox& opensandbox) {
  section.Read("mode", opensandbox.mode);
  BindServer(section.Child("local"), opensandbox.local);
  BindVke(section.Child("vke"), opensandbox.vke);
  section.Read("network.allowedDomains", opensandbox.allowed_domains);
  section.Read("network.deniedDomains", opensandbox.denied_domains);
  section.Read("runtime.timeout", opensandbox.runtime.timeout);
  section.Read("runtime.cpu", opensandbox.runtime.cpu);
  section.Read("runtime.memory", opensandbox.runtime.memory);
}

void BindBackends(const Section& section, Backends& backends) {
  section.Read("srt.settingsPath", backends.srt.settings_path);
  section.Read("docker.image", backends.docker.image);
  section.Read("docker.networkMode", backends.docker.network_mode);
  BindOpenSandbox(section.Child("opensandbox"), backends.opensandbox);
  section.Read("aio.baseUrl", backends.aio.base_url);
  section.Read("aio.apiKey", backends.aio.api_key);
}

void BindSandbox(const Section& section, Sandbox& sandbox) {
  section.Read("enabled", sandbox.enabled);
  section.Read("backend", sandbox.backend);
  section.Read("mode", sandbox.mode);
  section.Read("security", sandbox.security);
  section.Read("confirm", sandbox.confirm);
  section.Read("rejectAsConfirmation", sandbox.reject_as_confirmation);
  section.Read("confirmTimeout", sandbox.confirm_timeout);
  BindPolicy(section.Child("policy"), sandbox.policy);
  BindNetwork(section.Child("network"), sandbox.network);
  section.Read("environment", sandbox.environment);
  section.Read("secrets", sandbox.secrets);
  BindFilesystem(section.Child("filesystem"), sandbox.filesystem);
  BindRuntime(section.Child("runtime"), sandbox.runtime);
  BindLimits(section.Child("limits"), sandbox.limits);
  BindWorkspace(section.Child("workspace"), sandbox.workspace);
  section.Read("record.path", sandbox.record.path);
  section.Read("record.required", sandbox.record.required);
  BindPool(section.Child("pool"), sandbox.pool);
  BindDaemon(section.Child("daemon"), sandbox.daemon);
  BindBudgets(section.Child("budgets"), sandbox.budgets);
  BindApprovals(section.Child("approvals"), sandbox.approvals);
  BindMonitor(section.Child("monitor"), sandbox.monitor);
  BindLog(section.Child("log"), sandbox.log);
  BindTelemetry(section.Child("telemetry"), sandbox.telemetry);
  BindBackends(section.Child("backends"), sandbox.backends);
}

std::unexpected<base::Error> Misfit(const std::string& problem) {
  return base::Err(base::Code::kInternal, "config schema and struct do not fit: " + problem);
}

base::Status CheckRecord(const Layer& layers, const Section::Record& record) {
  if (!record.missing.empty()) return Misfit("no key " + record.missing);
  for (const auto& [path, setting] : layers) {
    if (!record.read.contains(path)) return Misfit(std::string("nobody reads ").append(path));
  }
  return {};
}

}  // namespace

base::Result<Config> Bind(const Layer& layers) {
  Config config;
  Section::Record record;
  try {
    BindSandbox(Section(layers, record, "sandbox"), config.sandbox);
  } catch (const nlohmann::json::exception& problem) {
    return Misfit(problem.what());
  }
  SKERRY_RETURN_IF_ERROR(CheckRecord(layers, record));
  return config;
}

}  // namespace skerry::config
