#include "bench/daemon_subjects.hpp"

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/deadline.hpp"
#include "bench/workloads.hpp"
#include "json/text.hpp"

namespace skerry::bench {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

constexpr const char* kName = "skerry serve";

// One connection to the daemon, used by all subjects in turn.
struct Line {
  explicit Line(DaemonCalls to) : daemon(std::move(to)) {}
  ~Line() {
    if (!session.empty()) (void)daemon.ask("DELETE", "/v1/sessions/" + session, nullptr);
  }

  DaemonCalls daemon;
  std::string session;               // the session of the context in which cells run
  std::set<std::string> introduced;  // kinds of which one program ran already
};

// From the first byte sent to the last one received.
base::Result<std::pair<Sample, Json>> Timed(Line& line, const std::string& target, const Json& body) {
  const std::string text = json::Text(body);
  const auto start = Clock::now();
  SKERRY_ASSIGN_OR_RETURN(const std::string result, line.daemon.post(target, text));
  const Sample sample{Clock::now() - start, {}};
  return std::pair(sample, json::Parse(result));
}

base::Result<Sample> RunProgram(Line& line, const Json& body, std::string_view expected) {
  SKERRY_ASSIGN_OR_RETURN(const auto timed, Timed(line, "/v1/execute", body));
  const auto& [sample, result] = timed;
  if (!result.is_object() || result.value("stdout", "") != expected)
    return base::Err(base::Code::kExecutionFailed, "the answer is not right: " + json::Text(result).substr(0, 200));
  if (result.value("start", "") != "warm")
    return base::Err(base::Code::kUnavailable,
                     "no interpreter was waiting: it was started by " + result.value("start", ""));
  return sample;
}

base::Result<Sample> RunCell(Line& line) {
  SKERRY_ASSIGN_OR_RETURN(const auto timed,
                          Timed(line, "/v1/sessions/" + line.session + "/contexts/bench/execute", {{"code", "1+1"}}));
  if (!json::Text(timed.second).contains(R"("text/plain":"2")"))
    return base::Err(base::Code::kExecutionFailed,
                     "the answer is not right: " + json::Text(timed.second).substr(0, 200));
  return timed.first;
}

// Waits until at least two interpreters of the kind are warm and none is being made; returns at once when the daemon
// keeps none of that kind.
void AwaitWarm(Line& line, const std::string& kind) {
  const auto deadline = base::Deadline::After(10s);
  while (!deadline.Expired()) {
    const auto pool = line.daemon.ask("GET", "/v1/pool", nullptr);
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

// The daemon may keep interpreters of a kind only after the first program of that kind, so that program is not
// measured.
void Settle(Line& line, const Json& body, const std::string& kind) {
  if (line.introduced.insert(kind).second) (void)Timed(line, "/v1/execute", body);
  AwaitWarm(line, kind);
}

Subject Program(const std::shared_ptr<Line>& line, const std::string& group, const std::string& language,
                const std::string& kind) {
  const Workload* workload = FindWorkload(group);
  const Json body = {{"code", workload->code}, {"language", language}, {"approve", true}};
  return {.group = group,
          .name = kName,
          .detail = "POST /v1/execute over the daemon's socket, warm",
          .run = [line, body, output = std::string(workload->output)] { return RunProgram(*line, body, output); },
          .settle = [line, body, kind] { Settle(*line, body, kind); },
          .target = workload->target};
}

base::Status OpenContext(Line& line) {
  SKERRY_ASSIGN_OR_RETURN(const Json session, line.daemon.ask("POST", "/v1/sessions", Json{{"ttl_seconds", 3600}}));
  line.session = session.value("id", "");
  SKERRY_RETURN_IF_ERROR(
      line.daemon.ask("POST", "/v1/sessions/" + line.session + "/contexts", Json{{"name", "bench"}}));
  return {};
}

}  // namespace

Baselines FindDaemonSubjects(base::Result<DaemonCalls> daemon) {
  Baselines all;
  const auto leave_out = [&](const std::string& reason, std::initializer_list<const char*> groups) {
    for (const char* group : groups) all.left_out.push_back({group, kName, reason});
  };
  const auto health =
      daemon ? daemon->ask("GET", "/v1/health", nullptr) : base::Result<Json>(std::unexpected(daemon.error()));
  if (!health) {
    leave_out(health.error().message, {"python", "pandas", "node", "shell", "cell"});
    return all;
  }
  const auto line = std::make_shared<Line>(std::move(*daemon));
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
                          .target = FindWorkload("cell")->target});
  return all;
}

}  // namespace skerry::bench
