// skerry serve: the daemon.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/private_daemon.hpp"
#include "cli/run_options.hpp"
#include "cli/sessions_of.hpp"
#include "cli/signal_watch.hpp"
#include "config/show.hpp"
#include "core/backend_registry.hpp"
#include "os/machine.hpp"
#include "transport/daemon/daemon.hpp"

namespace skerry::cli {
namespace {

struct ServeOptions {
  std::optional<std::string> socket;
  std::optional<std::string> listen;
  std::optional<std::string> certificate;
  std::optional<std::string> key;
  std::optional<std::string> log_level;
  std::optional<std::string> log_format;
  std::optional<std::uint64_t> on_demand;  // seconds
};

engine::LifeMode LifeModeOf(const config::Sandbox& sandbox) {
  if (!sandbox.enabled || sandbox.mode == config::LifeMode::kDisabled) return engine::LifeMode::kDisabled;
  return sandbox.mode == config::LifeMode::kShared ? engine::LifeMode::kShared : engine::LifeMode::kPerSession;
}

engine::PoolOptions PoolOptionsOf(const config::Pool& pool) {
  return {.max_instances = static_cast<std::size_t>(pool.max_instances),
          .min_instances = static_cast<std::size_t>(pool.min_instances),
          .idle_timeout = pool.idle_timeout,
          .max_use_count = static_cast<std::uint64_t>(pool.max_use_count),
          .cleanup_interval = pool.cleanup_interval};
}

engine::MonitorOptions MonitorOptionsOf(const config::Monitor& monitor) {
  return {.interval = monitor.interval,
          .history = static_cast<std::size_t>(monitor.history),
          .alerts = {.cpu_percent = static_cast<double>(monitor.cpu_alert_percent),
                     .memory_percent = static_cast<double>(monitor.memory_alert_percent),
                     .hold = monitor.alert_hold}};
}

base::Result<std::optional<watch::AnnouncerOptions>> WebhookOf(const config::Approvals& approvals) {
  constexpr std::size_t kShortestSecret = 16;
  if (approvals.webhook_url.empty()) return std::nullopt;
  if (!approvals.webhook_url.starts_with("http://") && !approvals.webhook_url.starts_with("https://"))
    return base::Err(base::Code::kInvalidArgument, "sandbox.approvals.webhookUrl must begin with http:// or https://");
  if (approvals.webhook_secret.size() < kShortestSecret)
    return base::Err(base::Code::kInvalidArgument,
                     "sandbox.approvals.webhookUrl needs a webhookSecret of at least 16 characters, so that the other "
                     "end can tell who announces; set SKERRY_SANDBOX__APPROVALS__WEBHOOK_SECRET");
  return watch::AnnouncerOptions{.url = approvals.webhook_url, .secret = approvals.webhook_secret};
}

base::Result<std::optional<watch::SpanExporterOptions>> SpansOf(const config::Telemetry& telemetry) {
  watch::SpanExporterOptions options{.endpoint = telemetry.otlp_endpoint, .version = SKERRY_VERSION};
  const char* variable = std::getenv("OTEL_EXPORTER_OTLP_ENDPOINT");
  if (options.endpoint.empty() && variable != nullptr) options.endpoint = variable;
  if (options.endpoint.empty()) return std::nullopt;
  for (const std::string& header : telemetry.otlp_headers) {
    const std::size_t equals = header.find('=');
    if (equals == std::string::npos || equals == 0)
      return base::Err(base::Code::kInvalidArgument, "sandbox.telemetry.otlpHeaders has items like name=value");
    options.headers.emplace_back(header.substr(0, equals), header.substr(equals + 1));
  }
  return options;
}

watch::LoggerOptions LoggerOptionsOf(const config::Log& log) {
  return {.level = watch::ParseLogLevel(log.level).value_or(watch::LogLevel::kNotice),
          .format = log.format == "json" ? watch::LogFormat::kJson : watch::LogFormat::kText};
}

engine::Budgets BudgetsOf(const config::Budgets& budgets) {
  const auto bytes = [](int megabytes) { return static_cast<std::uint64_t>(megabytes) << 20U; };
  return {.output = {.each = bytes(budgets.output_per_tenant_mb), .all = bytes(budgets.output_mb)},
          .spool = {.each = bytes(budgets.spool_per_tenant_mb), .all = bytes(budgets.spool_mb)},
          .record = {.each = bytes(budgets.record_per_tenant_mb), .all = bytes(budgets.record_mb)},
          .audit = {.each = bytes(budgets.audit_per_tenant_mb), .all = bytes(budgets.audit_mb)},
          .record_of_run = bytes(budgets.record_per_run_mb),
          .reserve = bytes(budgets.reserve_mb)};
}

base::Result<engine::HostOptions> HostOptionsOf(const Context& context, const config::Sandbox& sandbox,
                                                const engine::ManagerOptions& manager) {
  SKERRY_ASSIGN_OR_RETURN(const std::string path, RecordPathOf(sandbox));
  engine::HostOptions host{.state_directory = path.substr(0, path.rfind('/')) + "/daemon",
                           .sessions = SessionsOptionsOf(sandbox.workspace),
                           .defaults = {.mode = LifeModeOf(sandbox),
                                        .limits = manager.limits,
                                        .timeout = sandbox.limits.timeout,
                                        .idle = sandbox.daemon.idle_timeout},
                           .max_sessions = static_cast<std::size_t>(sandbox.daemon.max_sessions),
                           .keep_results = sandbox.daemon.keep_results,
                           .max_output_mb = static_cast<std::uint64_t>(sandbox.limits.max_output_mb),
                           .budgets = BudgetsOf(sandbox.budgets),
                           .approvals = {.limit = sandbox.confirm_timeout},
                           .monitor = MonitorOptionsOf(sandbox.monitor)};
  if (sandbox.daemon.session_ttl.count() != 0) host.ttl = sandbox.daemon.session_ttl;
  SKERRY_ASSIGN_OR_RETURN(host.store, ServiceStoreOf(context, sandbox));
  host.recorder = RecorderOptionsOf(context, sandbox);
  host.record = host.recorder.store;
  return host;
}

// A quarter of the daemon's memory is for assessing code, another for bodies of requests; the rest is for connections,
// answers, events and the record.
std::size_t ShareOfMemory(const config::Daemon& daemon) {
  return (static_cast<std::size_t>(daemon.memory_mb) << 20U) / 4;
}

// Half of the connections may come from one peer: an agent platform, or a person with many windows. A body may be as
// large as a workspace, with what an archive adds to that.
transport::http::Limits LimitsOf(const config::Sandbox& sandbox) {
  constexpr std::uint64_t kOfArchives = 64;
  const auto connections = static_cast<std::size_t>(sandbox.daemon.max_connections);
  const auto workspace = static_cast<std::uint64_t>(sandbox.workspace.max_size_mb);
  transport::http::Limits limits{.connections = connections,
                                 .connections_per_peer = std::max<std::size_t>(connections / 2, 1)};
  limits.large_body = std::min(limits.large_body, (workspace + kOfArchives) << 20U);
  limits.body_memory = ShareOfMemory(sandbox.daemon);
  return limits;
}

base::Result<transport::daemon::DaemonOptions> DaemonOptionsOf(const Context& context, const config::Sandbox& sandbox) {
  const config::Daemon& daemon = sandbox.daemon;
  transport::daemon::DaemonOptions options{
      .socket = config::ExpandHome(daemon.socket, Context::Home()),
      .listen = daemon.listen,
      .hosts = daemon.allowed_hosts,
      .origins = daemon.allowed_origins,
      .limits = LimitsOf(sandbox),
      .tokens = {.requests_per_second = static_cast<std::uint64_t>(daemon.requests_per_second),
                 .concurrent_runs = static_cast<std::uint64_t>(daemon.concurrent_runs),
                 .sessions = static_cast<std::uint64_t>(daemon.sessions_per_token)},
      .analyses = {.memory = ShareOfMemory(daemon)},
      .drain = daemon.drain_timeout,
      .version = SKERRY_VERSION,
      .log = LoggerOptionsOf(sandbox.log),
      .code = sandbox.log.code ? engine::CodeBodies::kIncluded : engine::CodeBodies::kLeftOut};
  if (daemon.tls_certificate.empty() != daemon.tls_key.empty())
    return base::Err(base::Code::kInvalidArgument, "TLS needs both: a certificate and its key");
  if (!daemon.tls_certificate.empty())
    options.tls = {config::ExpandHome(daemon.tls_certificate, Context::Home()),
                   config::ExpandHome(daemon.tls_key, Context::Home())};
  if (LifeModeOf(sandbox) == engine::LifeMode::kDisabled && sandbox.security == config::SecurityMode::kStrict)
    return base::Err(
        base::Code::kDisabled,
        "sandboxing is disabled by the configuration, and strict security runs nothing without; enable it, "
        "or set sandbox.security to permissive and rely on the local guard");
  SKERRY_ASSIGN_OR_RETURN(options.webhook, WebhookOf(sandbox.approvals));
  SKERRY_ASSIGN_OR_RETURN(options.spans, SpansOf(sandbox.telemetry));
  SKERRY_ASSIGN_OR_RETURN(options.manager, ManagerOptionsOf({}, sandbox));
  options.manager.pool = PoolOptionsOf(sandbox.pool);
  SKERRY_ASSIGN_OR_RETURN(options.host, HostOptionsOf(context, sandbox, options.manager));
  return options;
}

// Where a private daemon differs from the configuration: it has files of its own, and no clients but its user's
// commands.
std::vector<config::Override> OverridesOf(const PrivateDoor& door) {
  constexpr char kFlag[] = "--on-demand";
  return {{"sandbox.record.path", door.state() + "/record.db", kFlag},
          {"sandbox.workspace.baseDir", door.state() + "/workspaces", kFlag},
          {"sandbox.daemon.listen", "", kFlag},
          {"sandbox.daemon.drainTimeout", "0", kFlag},
          {"sandbox.approvals.webhookUrl", "", kFlag}};
}

// Serves as the private daemon, which src/cli/private_daemon.cpp starts.
base::Result<int> ServeOnDemand(const Context& context, std::chrono::seconds idle) {
  SKERRY_ASSIGN_OR_RETURN(PrivateDoor door, PrivateDoor::Take());
  SKERRY_ASSIGN_OR_RETURN(const config::Loaded loaded, context.LoadConfig(OverridesOf(door)));
  const SignalWatch signals;
  os::AllowManyDescriptors();
  SKERRY_ASSIGN_OR_RETURN(const auto registry, context.Backends(loaded.config.sandbox, Warmth::kWarm));
  SKERRY_ASSIGN_OR_RETURN(auto daemon, DaemonOptionsOf(context, loaded.config.sandbox));
  daemon.host.configuration = config::ShowJson(loaded);
  daemon.host.own_contexts = idle;
  daemon.manager.pool.reset();  // contexts do not use it
  daemon.on_demand = {.listener = door.TakeListener(),
                      .session = PrivateDaemon::kSession,
                      .idle = idle,
                      .reachable = [&door] { return door.IsReachable(); },
                      .hide = [&door] { return door.Hide(); },
                      .show_again = [&door] { door.Show(); }};
  const auto served = transport::daemon::Serve(*registry, std::move(daemon), signals.interrupt_fd());
  door.Leave();
  SKERRY_RETURN_IF_ERROR(served);
  return 0;
}

base::Result<int> Serve(const Context& context, const ServeOptions& options) {
  if (options.on_demand) return ServeOnDemand(context, std::chrono::seconds(*options.on_demand));
  std::vector<config::Override> overrides;
  const auto add = [&](const std::optional<std::string>& value, const char* path, const char* flag) {
    if (value) overrides.push_back({path, *value, flag});
  };
  add(options.socket, "sandbox.daemon.socket", "--socket");
  add(options.listen, "sandbox.daemon.listen", "--listen");
  add(options.certificate, "sandbox.daemon.tlsCertificate", "--tls-certificate");
  add(options.key, "sandbox.daemon.tlsKey", "--tls-key");
  add(options.log_level, "sandbox.log.level", "--log-level");
  add(options.log_format, "sandbox.log.format", "--log-format");
  SKERRY_ASSIGN_OR_RETURN(const config::Loaded loaded, context.LoadConfig(std::move(overrides)));
  const SignalWatch signals;
  os::AllowManyDescriptors();
  SKERRY_ASSIGN_OR_RETURN(const auto registry, context.Backends(loaded.config.sandbox, Warmth::kWarm));
  SKERRY_ASSIGN_OR_RETURN(auto daemon, DaemonOptionsOf(context, loaded.config.sandbox));
  daemon.host.configuration = config::ShowJson(loaded);
  SKERRY_RETURN_IF_ERROR(transport::daemon::Serve(*registry, std::move(daemon), signals.interrupt_fd()));
  return 0;
}

std::vector<Option> OptionsInto(ServeOptions& options) {
  return {{.names = "--socket",
           .value = Value::File("PATH"),
           .description = "Unix socket, for you alone (~/.skerry/run/skerry.sock)",
           .to = &options.socket},
          {.names = "--listen",
           .value = Value::Text("HOST:PORT"),
           .description = "Listen on TCP as well, for those who have a token; :PORT is loopback, port 0 is any",
           .to = &options.listen},
          {.names = "--tls-certificate",
           .value = Value::File(),
           .description = "Serve TLS on TCP with this certificate (PEM)",
           .to = &options.certificate},
          {.names = "--tls-key",
           .value = Value::File(),
           .description = "The key of the certificate (PEM)",
           .to = &options.key},
          {.names = "--log-level",
           .value = Value::OneOf("LEVEL", {"error", "warning", "notice", "info", "debug"}),
           .description = "error, warning, notice, info (each request and run) or debug",
           .to = &options.log_level},
          {.names = "--log-format",
           .value = Value::OneOf("FORMAT", {"text", "json"}),
           .description = "text, or json: one object for each line",
           .to = &options.log_format},
          {.names = "--on-demand",
           .value = Value::Text("SECONDS"),
           .description = "End when nobody needs it; for skerry run --context",
           .to = &options.on_demand,
           .visibility = Visibility::kHidden}};
}

}  // namespace

Command ServeCommand(const Context& context) {
  auto options = std::make_shared<ServeOptions>();
  return {.name = "serve",
          .description = "Run the daemon: sessions, executions and files over HTTP",
          .footer =
              "Examples:\n"
              "  skerry serve\n"
              "  skerry serve --listen 127.0.0.1:8080\n\n"
              "SIGTERM and SIGINT end it: requests under way get three seconds, then every sandbox is ended. "
              "Sessions and their files\n"
              "stay. With systemd: packaging/skerry.service, with or without skerry.socket.",
          .options = OptionsInto(*options),
          .action = [=, &context] { return Serve(context, *options); }};
}

}  // namespace skerry::cli
