#include "transport/daemon/daemon.hpp"

#include <malloc.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/turns.hpp"
#include "engine/host.hpp"
#include "transport/daemon/contract.hpp"
#include "transport/daemon/last_resort.hpp"
#include "transport/daemon/login_watch.hpp"
#include "transport/daemon/poster.hpp"
#include "transport/http/listening.hpp"
#include "transport/v1/api.hpp"

namespace skerry::transport::daemon {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

// The name of a unix socket that the daemon made; it goes with the object.
class SocketName {
 public:
  SocketName() = default;
  explicit SocketName(std::string path) : path_(std::move(path)) {}
  SocketName(SocketName&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  SocketName& operator=(SocketName&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~SocketName() {
    if (!path_.empty()) (void)::unlink(path_.c_str());
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Listening {
  std::vector<http::ListeningSocket> sockets;
  std::vector<std::string> hosts;
  std::vector<std::string> announcements;  // for when all sockets are there
  SocketName name;
};

// Where the daemon reports what it does: log, traces, announcements.
struct Voices {
  std::shared_ptr<watch::Logger> log;
  std::shared_ptr<watch::SpanExporter> spans;
  std::shared_ptr<watch::Announcer> announcer;

  void Say(const std::string& text) const { log->Write(watch::LogLevel::kNotice, text); }
};

Voices VoicesOf(const DaemonOptions& options) {
  Voices voices{.log = std::make_shared<watch::Logger>(options.log)};
  const auto warn = [log = voices.log](const std::string& text) { log->Write(watch::LogLevel::kWarning, text); };
  if (options.spans) voices.spans = std::make_shared<watch::SpanExporter>(*options.spans, MakePoster(), warn);
  if (options.webhook) voices.announcer = std::make_shared<watch::Announcer>(*options.webhook, MakePoster(), warn);
  return voices;
}

base::Status CheckExposure(const http::TcpAddress& address, const DaemonOptions& options, const Voices& voices,
                           const engine::Tokens& tokens) {
  if (address.loopback) return {};
  SKERRY_ASSIGN_OR_RETURN(const auto known, tokens.List());
  const auto now = std::chrono::system_clock::now();
  if (std::ranges::none_of(known, [&](const core::TokenRecord& token) {
        return !token.revoked_at && (!token.expires_at || *token.expires_at > now);
      }))
    return base::Err(base::Code::kRejected,
                     "listening on " + address.host +
                         " lets others in, and there is no token yet: start without --listen, make one with skerry "
                         "token create, and start again");
  if (!options.tls)
    voices.log->Write(watch::LogLevel::kWarning, address.host +
                                                     " is served without TLS: tokens and code pass in the clear; see "
                                                     "sandbox.daemon.tlsCertificate");
  return {};
}

base::Result<Listening> Listen(DaemonOptions& options, const Voices& voices, const engine::Tokens& tokens) {
  if (options.on_demand) {
    Listening alone;
    alone.sockets.push_back({.fd = std::move(options.on_demand->listener), .name = "unix"});
    return alone;
  }
  std::shared_ptr<const http::TlsFiles> tls;
  if (options.tls) {
    SKERRY_RETURN_IF_ERROR(http::CheckTls(*options.tls));
    tls = std::make_shared<const http::TlsFiles>(*options.tls);
  }
  Listening listening;
  SKERRY_ASSIGN_OR_RETURN(listening.sockets, http::TakeActivated(tls));
  if (!listening.sockets.empty()) {
    listening.announcements.push_back("serves " + std::to_string(listening.sockets.size()) +
                                      " sockets that systemd opened");
    return listening;
  }
  SKERRY_ASSIGN_OR_RETURN(http::ListeningSocket unix_socket, http::ListenUnix(options.socket));
  unix_socket.name = "unix";
  listening.sockets.push_back(std::move(unix_socket));
  listening.name = SocketName(options.socket);
  listening.announcements.push_back("listens on unix:" + options.socket);
  if (options.listen.empty()) return listening;
  SKERRY_ASSIGN_OR_RETURN(const http::TcpAddress address, http::ParseListen(options.listen));
  SKERRY_RETURN_IF_ERROR(CheckExposure(address, options, voices, tokens));
  SKERRY_ASSIGN_OR_RETURN(http::ListeningSocket tcp, http::ListenTcp(address, tls));
  SKERRY_ASSIGN_OR_RETURN(const std::uint16_t port, http::PortOf(tcp));
  tcp.name = "tcp";
  listening.hosts.push_back(address.host);
  listening.sockets.push_back(std::move(tcp));
  const bool six = address.host.contains(':') && !address.host.starts_with('[');
  listening.announcements.push_back(std::string("listens on ") + (tls ? "https://" : "http://") +
                                    (six ? "[" + address.host + "]" : address.host) + ":" + std::to_string(port));
  return listening;
}

// Warms up the pool, so that the first caller finds warm sandboxes.
std::jthread WarmUp(engine::SandboxManager& manager) {
  return std::jthread([&manager](const std::stop_token& stop) {
    constexpr int kTurns = 40;
    constexpr std::chrono::milliseconds kTurn{250};
    for (const core::Preload kind :
         {core::Preload::kShell, core::Preload::kPython, core::Preload::kJavaScript, core::Preload::kPythonData})
      for (int turn = 0; turn < kTurns && !stop.stop_requested() && manager.warm() != nullptr; ++turn)
        manager.warm()->AwaitWarm(kind, base::Deadline::After(kTurn));
  });
}

bool IsReadable(int fd, std::chrono::milliseconds patience) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, static_cast<int>(patience.count())) > 0;
}

void AwaitStop(int stop_fd) {
  while (!IsReadable(stop_fd, std::chrono::milliseconds(-1))) {
  }
}

void AwaitStopOrLeave(int stop_fd, const OnDemand& on_demand, const http::Server& server, const engine::Host& host) {
  constexpr auto kToBeSeen = 50ms;
  const auto pause = std::clamp<std::chrono::milliseconds>(on_demand.idle / 4, 100ms, 60s);
  auto last_use = std::chrono::steady_clock::now();
  std::uint64_t served = 0;
  while (!IsReadable(stop_fd, pause)) {
    const auto now = std::chrono::steady_clock::now();
    const http::Server::Statistics statistics = server.Now();
    const bool used = statistics.connections != 0 || statistics.served != std::exchange(served, statistics.served);
    if (used || host.CountContexts() != 0) last_use = now;
    const bool needless = now - last_use >= on_demand.idle || !on_demand.reachable();
    if (used || !needless || !on_demand.hide()) continue;
    // A client that had connected before that shows by then.
    std::this_thread::sleep_for(kToBeSeen);
    const http::Server::Statistics after = server.Now();
    if (after.connections == 0 && after.served == served) return;
    on_demand.show_again();
  }
}

// The contexts of an earlier daemon have ended with it, and what they wrote is not kept; their history is.
base::Status RenewSession(engine::Host& host, const std::string& name) {
  const engine::Principal owner{.id = "local", .tenant = "local", .scopes = {core::TokenScope::kAdmin}, .owner = true};
  for (const auto& session : host.List(owner)) SKERRY_RETURN_IF_ERROR(host.Delete(owner, session->id()));
  SKERRY_RETURN_IF_ERROR(host.Create(owner, {.name = name, .settings = host.options().defaults}));
  return {};
}

// Requests get their time; then runs are ended, so that a client that waits for one is told how it ended; then
// connections are closed, which asks every handler to stop.
bool DrainThenStop(http::Server& server, engine::Host& host, std::chrono::seconds time) {
  std::jthread ender([&](const std::stop_token& drained) {
    std::mutex mutex;
    std::condition_variable_any waiting;
    std::unique_lock lock(mutex);
    (void)waiting.wait_for(lock, drained, time, [&] { return drained.stop_requested(); });
    host.StopRuns();
  });
  const auto for_answers = (LongestEnd(time) - time) / 2;
  return server.Drain(base::Deadline::After(time + for_answers));
}

// Nothing here waits for a lock: a thread that hangs may hold the log.
void LimitTheEnd(const DaemonOptions& options, const std::string& socket) {
  EndWithin(LongestEnd(options.drain), [socket] {
    constexpr std::string_view kWords = "skerry: what still ran did not heed the end and was cut off\n";
    (void)::write(STDERR_FILENO, kWords.data(), kWords.size());
    if (!socket.empty()) (void)::unlink(socket.c_str());
  });
}

// Memory that one large request took is given back to the system after it.
void GiveLargeBlocksBack() {
  constexpr int kLargeBlock = 256 << 10;
  (void)::mallopt(M_MMAP_THRESHOLD, kLargeBlock);
}

std::string ClassOf(int status) {
  constexpr int kHundred = 100;
  return status == 0 ? "gone" : std::to_string(status / kHundred) + "xx";
}

std::function<void(const http::Mistake&)> TellMistakes(LoginWatch& logins, watch::Metrics& metrics) {
  return [&](const http::Mistake& mistake) {
    metrics
        .CounterOf("skerry_refused_logins_total", "Requests without a token or with a wrong one.",
                   {{"throttled", mistake.throttled ? "yes" : "no"}})
        .Add();
    logins.Saw(mistake);
  };
}

// Counts, logs and traces each request when it is over.
std::function<void(const http::AccessRecord&)> TellRequests(engine::Chronicle& chronicle, const Voices& voices) {
  return [&chronicle, voices](const http::AccessRecord& record) {
    watch::Metrics& metrics = chronicle.metrics();
    metrics.CounterOf("skerry_http_requests_total", "Requests by status.", {{"status", ClassOf(record.status)}}).Add();
    metrics
        .HistogramOf("skerry_http_request_seconds", "How long requests took, streams included.", watch::LatencyBounds())
        .Observe(std::chrono::duration<double>(record.took).count());
    if (voices.log->Wants(watch::LogLevel::kInfo))
      voices.log->Write(watch::LogLevel::kInfo, "request",
                        {{"request_id", record.request_id},
                         {"caller", record.caller},
                         {"peer", record.peer},
                         {"method", record.method},
                         {"path", record.path},
                         {"status", std::to_string(record.status)},
                         {"bytes", std::to_string(record.bytes)},
                         {"duration_us", std::to_string(record.took.count())},
                         {"trace_id", record.trace.trace_id}});
    if (!voices.spans) return;
    const auto now = std::chrono::system_clock::now();
    voices.spans->Add({.name = record.method + " " + (record.route.empty() ? "-" : record.route),
                       .context = record.trace,
                       .parent_id = record.trace_parent,
                       .kind = watch::Span::Kind::kServer,
                       .begin = now - record.took,
                       .end = now,
                       .attributes = {{"http.request.method", record.method},
                                      {"http.route", record.route},
                                      {"http.response.status_code", std::to_string(record.status)},
                                      {"skerry.request_id", record.request_id},
                                      {"skerry.caller", record.caller}},
                       .error = record.status >= 500 ? "status " + std::to_string(record.status) : ""});
  };
}

}  // namespace

std::chrono::milliseconds LongestEnd(std::chrono::seconds drain) {
  constexpr std::chrono::milliseconds kUsual{4500};
  constexpr std::chrono::milliseconds kAfterDraining{1500};
  return std::max(kUsual, drain + kAfterDraining);
}

base::Status Serve(const core::BackendRegistry& backends, DaemonOptions options, int stop_fd) {
  GiveLargeBlocksBack();
  base::WorkerPool workers({.max_threads = 1024, .max_waiting = 4096});
  const Voices voices = VoicesOf(options);
  options.host.chronicle = {
      .log = voices.log, .spans = voices.spans, .announcer = voices.announcer, .code = options.code};
  options.host.version = options.version;
  constexpr std::size_t kLooksAtOnce = 2;  // analyses of files; each takes a core
  const auto analyses = std::make_shared<engine::Analyses>(options.analyses);
  options.manager.gate.analyses = analyses;
  options.manager.gate.looks = std::make_shared<base::Turns>(kLooksAtOnce);
  engine::SandboxManager manager(backends, std::move(options.manager));
  SKERRY_ASSIGN_OR_RETURN(const auto host, engine::Host::Start(std::move(options.host), manager, workers));
  if (options.on_demand) SKERRY_RETURN_IF_ERROR(RenewSession(*host, options.on_demand->session));
  kit::Ticker ticker(5s);
  std::atomic<bool> draining = false;
  v1::Api api{.host = *host,
              .workers = workers,
              .ticker = ticker,
              .version = options.version,
              .contract = std::string(kContract)};
  api.draining = [&draining] { return draining.load(); };
  SKERRY_ASSIGN_OR_RETURN(Listening listening, Listen(options, voices, host->tokens()));
  for (const std::string& text : listening.announcements) voices.Say(text);
  http::ServerOptions server_options{
      .limits = options.limits,
      .hosts = options.hosts,
      .origins = options.origins,
      .spool = host->options().state_directory,
      .spool_budget = host->spool(),
      .authenticator = std::make_shared<kit::TokenAuthenticator>(host->tokens(), options.tokens)};
  std::ranges::copy(listening.hosts, std::back_inserter(server_options.hosts));
  server_options.dialects.push_back(v1::MakeDialect(api));
  server_options.log = TellRequests(host->chronicle(), voices);
  LoginWatch logins([&host](const watch::LoginReport& report) { host->chronicle().LoginsRefused(report); });
  server_options.on_mistake = TellMistakes(logins, host->chronicle().metrics());
  SKERRY_ASSIGN_OR_RETURN(auto server,
                          http::Server::Start(std::move(listening.sockets), std::move(server_options), workers));
  std::jthread warming = WarmUp(manager);
  http::NotifySystemd("READY=1");
  options.on_demand ? AwaitStopOrLeave(stop_fd, *options.on_demand, *server, *host) : AwaitStop(stop_fd);
  http::NotifySystemd("STOPPING=1");
  if (options.on_demand) (void)options.on_demand->hide();
  LimitTheEnd(options, listening.name.path());
  draining = true;
  ticker.TickNow();  // followers of events are told at once
  analyses->Stop();  // nothing has begun yet for requests that wait for an analysis
  voices.Say("ends; what is under way has " + std::to_string(options.drain.count()) + " seconds");
  if (!DrainThenStop(*server, *host, options.drain)) voices.Say("requests were cut off");
  server.reset();
  return {};
}

}  // namespace skerry::transport::daemon
