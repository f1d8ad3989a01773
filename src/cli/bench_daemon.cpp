#include "cli/bench_daemon.hpp"

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "bench/workloads.hpp"
#include "cli/daemon_client.hpp"
#include "json/text.hpp"

namespace skerry::cli {
namespace {

using Json = DaemonClient::Json;
using bench::Clock;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

constexpr const char* kName = "skerry serve";

// One connection, for all of them in turn.
struct Line {
  explicit Line(DaemonClient to) : client(std::move(to)) {}
  ~Line() {
    if (!session.empty()) (void)client.Ask("DELETE", "/v1/sessions/" + session);
  }

  DaemonClient client;
  std::string session;               // with the context that cells run in
  std::set<std::string> introduced;  // kinds that the daemon knows of
};

// From the first byte sent to the last one received.
base::Result<std::pair<bench::Sample, Json>> Timed(Line& line, const std::string& target, const Json& body) {
  const std::string text = json::Text(body);
  const auto start = Clock::now();
  SKERRY_ASSIGN_OR_RETURN(
      auto answer,
      line.client.Send(
          {.method = "POST", .target = target, .headers = {{"Content-Type", "application/json"}}, .body = text}));
  SKERRY_ASSIGN_OR_RETURN(const std::string result, answer.ReadAll(1U << 20U, base::Deadline::After(30s)));
  const bench::Sample sample{Clock::now() - start, {}};
  return std::pair(sample, json::Parse(result));
}

base::Result<bench::Sample> RunProgram(Line& line, const Json& body, std::string_view expected) {
  SKERRY_ASSIGN_OR_RETURN(const auto timed, Timed(line, "/v1/execute", body));
  const auto& [sample, result] = timed;
  if (!result.is_object() || result.value("stdout", "") != expected)
    return base::Err(base::Code::kExecutionFailed, "the answer is not right: " + json::Text(result).substr(0, 200));
  if (result.value("start", "") != "warm")
    return base::Err(base::Code::kUnavailable,
                     "no interpreter was waiting: it was started by " + result.value("start", ""));
  return sample;
}

base::Result<bench::Sample> RunCell(Line& line) {
  SKERRY_ASSIGN_OR_RETURN(const auto timed,
                          Timed(line, "/v1/sessions/" + line.session + "/contexts/bench/execute", {{"code", "1+1"}}));
  if (!json::Text(timed.second).contains(R"("text/plain":"2")"))
    return base::Err(base::Code::kExecutionFailed,
                     "the answer is not right: " + json::Text(timed.second).substr(0, 200));
  return timed.first;
}

// Until one of the kind waits again, as far as the daemon keeps any.
void AwaitWarm(Line& line, const std::string& kind) {
  const auto deadline = base::Deadline::After(10s);
  while (!deadline.Expired()) {
    const auto pool = line.client.Ask("GET", "/v1/pool");
    if (!pool) return;
    bool known = false;
    for (const Json& row : (*pool)["kinds"]) {
      if (row.value("kind", "") != kind) continue;
      known = true;
      if (row.value("warm", 0) > 1 && row.value("acquiring", 0) == 0) {
        std::this_thread::sleep_for(5ms);
        return;
      }
    }
    if (!known) return;
    std::this_thread::sleep_for(2ms);
  }
}

// The daemon keeps interpreters of a kind from its own start on only when it has had the time, and else from the first
// program of that kind on: that one is no measurement.
void Settle(Line& line, const Json& body, const std::string& kind) {
  if (line.introduced.insert(kind).second) (void)Timed(line, "/v1/execute", body);
  AwaitWarm(line, kind);
}

bench::Subject Program(const std::shared_ptr<Line>& line, const std::string& group, const std::string& language,
                       const std::string& kind) {
  const bench::Workload* workload = bench::FindWorkload(group);
  const Json body = {{"code", workload->code}, {"language", language}, {"approve", true}};
  return {.group = group,
          .name = kName,
          .detail = "POST /v1/execute over the daemon's socket, warm",
          .run = [line, body, output = std::string(workload->output)] { return RunProgram(*line, body, output); },
          .settle = [line, body, kind] { Settle(*line, body, kind); },
          .target = workload->target};
}

base::Status OpenContext(Line& line) {
  SKERRY_ASSIGN_OR_RETURN(const Json session, line.client.Ask("POST", "/v1/sessions", Json{{"ttl_seconds", 3600}}));
  line.session = session.value("id", "");
  SKERRY_RETURN_IF_ERROR(
      line.client.Ask("POST", "/v1/sessions/" + line.session + "/contexts", Json{{"name", "bench"}}));
  return {};
}

}  // namespace

bench::Baselines FindDaemonSubjects(const Context& context) {
  bench::Baselines all;
  const auto leave_out = [&](const std::string& reason, std::initializer_list<const char*> groups) {
    for (const char* group : groups) all.left_out.push_back({group, kName, reason});
  };
  auto found = DaemonClient::Find(context);
  const auto health = found ? found->Ask("GET", "/v1/health") : base::Result<Json>(std::unexpected(found.error()));
  if (!health) {
    leave_out(health.error().message, {"python", "pandas", "node", "shell", "cell"});
    return all;
  }
  const auto line = std::make_shared<Line>(std::move(*found));
  all.subjects = {Program(line, "python", "python", "python"), Program(line, "pandas", "python", "python-data"),
                  Program(line, "node", "javascript", "javascript"), Program(line, "shell", "shell", "shell")};
  if (const auto opened = OpenContext(*line); !opened) {
    leave_out(opened.error().message, {"cell"});
    return all;
  }
  all.subjects.push_back({.group = "cell",
                          .name = kName,
                          .detail = "POST /v1/sessions/…/contexts/…/execute over the daemon's socket",
                          .run = [line] { return RunCell(*line); },
                          .settle = {},
                          .target = bench::FindWorkload("cell")->target});
  return all;
}

}  // namespace skerry::cli
