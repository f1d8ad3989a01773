// The configuration that the rest of the program reads: plain values, all checked against api/config.schema.json.
// The members follow the keys of the file. Their defaults stand in the schema, and only there: a Config that did not
// come out of Load() is empty, not default.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace skerry::config {

enum class LifeMode { kPerSession, kShared, kDisabled };
enum class SecurityMode { kStrict, kPermissive };
enum class ConfirmFrom { kHigh, kCritical, kNever };
enum class OpenSandboxMode { kLocal, kVke };

struct Network {
  std::vector<std::string> allowed_domains;
  std::vector<std::string> denied_domains;
  bool allow_local_binding = false;
};

struct Filesystem {
  std::vector<std::string> allow_read;
  std::vector<std::string> deny_read;
  std::vector<std::string> allow_write;
  std::vector<std::string> deny_write;
  std::vector<std::string> protect;
  std::vector<std::string> dangerously_allow;
};

struct Runtime {
  bool cleanup_on_exit = false;
  std::chrono::seconds timeout{};
};

struct Limits {
  std::chrono::seconds timeout{};
  int max_memory_mb = 0;
  int max_output_mb = 0;
  int max_stream_mb = 0;
  int max_pids = 0;
  int max_cpu_percent = 0;
  int max_open_files = 0;
  int max_file_mb = 0;
  int max_files = 0;
  int tmp_mb = 0;
};

struct Workspace {
  std::string base_dir;
  int max_size_mb = 0;
  std::chrono::hours cleanup_after{};
  std::string source;
  std::vector<std::string> bootstrap_files;
};

struct Record {
  std::string path;
  bool required = false;
};

struct Pool {
  int max_instances = 0;
  int min_instances = 0;
  std::chrono::seconds idle_timeout{};
  int max_use_count = 0;
  std::chrono::seconds cleanup_interval{};
};

struct Daemon {
  std::string socket;
  std::string listen;
  std::string tls_certificate;
  std::string tls_key;
  std::vector<std::string> allowed_hosts;
  std::vector<std::string> allowed_origins;
  std::chrono::seconds session_ttl{};
  std::chrono::seconds idle_timeout{};
  int max_sessions = 0;
  int max_connections = 0;
  int requests_per_second = 0;
  int concurrent_runs = 0;
  int sessions_per_token = 0;
  std::chrono::seconds keep_results{};
  std::chrono::seconds drain_timeout{};
  int memory_mb = 0;
};

// In MB; 0 for no limit.
struct Budgets {
  int output_mb = 0;
  int output_per_tenant_mb = 0;
  int spool_mb = 0;
  int spool_per_tenant_mb = 0;
  int record_mb = 0;
  int record_per_tenant_mb = 0;
  int record_per_run_mb = 0;
  int audit_mb = 0;
  int audit_per_tenant_mb = 0;
  int reserve_mb = 0;
};

struct Approvals {
  std::string webhook_url;
  std::string webhook_secret;
};

struct Monitor {
  std::chrono::milliseconds interval{};
  int history = 0;
  int cpu_alert_percent = 0;
  int memory_alert_percent = 0;
  std::chrono::seconds alert_hold{};
};

struct Log {
  std::string level;
  std::string format;
  bool code = false;
};

struct Telemetry {
  std::string otlp_endpoint;
  std::vector<std::string> otlp_headers;  // name=value
};

struct Srt {
  std::string settings_path;
};

struct Docker {
  std::string image;
  std::string network_mode;
};

struct OpenSandboxServer {
  std::string server_url;
  std::string api_key;
  std::string default_image;
};

struct Tos {
  bool enabled = false;
  std::string mount_path;
  std::string pvc_name;
};

struct Vke {
  OpenSandboxServer server;
  std::string kubernetes_namespace;
  std::string kubeconfig_path;
  Tos tos;
};

struct OpenSandboxRuntime {
  std::chrono::seconds timeout{};
  std::string cpu;
  std::string memory;
};

struct OpenSandbox {
  OpenSandboxMode mode = OpenSandboxMode::kLocal;
  OpenSandboxServer local;
  Vke vke;
  std::vector<std::string> allowed_domains;
  std::vector<std::string> denied_domains;
  OpenSandboxRuntime runtime;
};

struct Aio {
  std::string base_url;
  std::string api_key;
};

struct Backends {
  Srt srt;
  Docker docker;
  OpenSandbox opensandbox;
  Aio aio;
};

// Items of `rules`, `commands` and `modules` are `name=level`.
struct Policy {
  std::vector<std::string> rules;
  std::vector<std::string> commands;
  std::vector<std::string> modules;
  std::vector<std::string> allow;
};

struct Sandbox {
  bool enabled = false;
  std::string backend;
  LifeMode mode = LifeMode::kPerSession;
  SecurityMode security = SecurityMode::kStrict;
  ConfirmFrom confirm = ConfirmFrom::kHigh;
  bool reject_as_confirmation = false;
  std::chrono::seconds confirm_timeout{0};
  Policy policy;
  Network network;
  std::vector<std::string> environment;  // NAME=VALUE
  std::vector<std::string> secrets;      // NAME=file:PATH or NAME=variable:NAME, and tenants=… behind
  Filesystem filesystem;
  Runtime runtime;
  Limits limits;
  Workspace workspace;
  Record record;
  Pool pool;
  Daemon daemon;
  Budgets budgets;
  Approvals approvals;
  Monitor monitor;
  Log log;
  Telemetry telemetry;
  Backends backends;
};

struct Config {
  Sandbox sandbox;
};

// `path` with `home` in place of a `~` at its front. Paths keep their `~` in Config; the code that opens one expands
// it. Only `~` and `~/…` change, and nothing does when `home` is empty: `~/x` must not become `/x`.
std::string ExpandHome(std::string_view path, std::string_view home);

}  // namespace skerry::config
