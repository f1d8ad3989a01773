#include "cli/context_session.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <exception>
#include <optional>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/utf8.hpp"
#include "cli/context_sink.hpp"
#include "json/context_json.hpp"
#include "json/text.hpp"

namespace skerry::cli {
namespace {

using std::chrono_literals::operator""s;
constexpr auto kPatience = 30s;  // with a client's request, and with its reading of the answer

std::chrono::milliseconds Milliseconds(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch());
}

std::string TextOf(const nlohmann::ordered_json& request, const char* name) {
  const auto found = request.find(name);
  return found != request.end() && found->is_string() ? found->get<std::string>() : "";
}

std::uint64_t NumberOf(const nlohmann::ordered_json& request, const char* name) {
  const auto found = request.find(name);
  return found != request.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

std::vector<std::string> ValidTexts(std::vector<std::string> texts) {
  for (std::string& text : texts) text = base::ToValidUtf8(text);
  return texts;
}

// The context's own language where the request names none.
base::Result<core::Language> LanguageFor(const engine::ContextManager& contexts, const std::string& context,
                                         const std::string& language) {
  if (!language.empty()) return core::ParseLanguage(language);
  const auto found = contexts.Find(context);
  return found ? found->language : core::Language::kPython;
}

struct AskedCell {
  std::string context;
  core::Language language;
  core::Cell cell;
};

base::Result<AskedCell> CellOf(const engine::ContextManager& contexts, const nlohmann::ordered_json& request) {
  core::ExecutionRequest asked{.code = TextOf(request, "code"),
                               .timeout = std::chrono::seconds(NumberOf(request, "timeout_seconds")),
                               .max_output_mb = NumberOf(request, "max_output_mb")};
  SKERRY_RETURN_IF_ERROR(core::Validate(asked));
  AskedCell result{.context = TextOf(request, "context")};
  SKERRY_ASSIGN_OR_RETURN(result.language, LanguageFor(contexts, result.context, TextOf(request, "language")));
  result.cell = {
      .text = std::move(asked.code), .timeout = asked.timeout, .max_output_bytes = asked.max_output_mb << 20U};
  return result;
}

// The approval that came with a request, for as long as that is served.
class UsedApproval {
 public:
  UsedApproval(confirm::CarriedApprovals& approvals, const std::string& context, const nlohmann::ordered_json& request)
      : approvals_(approvals), context_(context) {
    const auto found = request.find("approval");
    if (found == request.end() || !found->is_object()) return;
    digest_ = TextOf(*found, "digest");
    approvals_.Expect(context_, digest_,
                      {.decision = confirm::Decision::kApproved,
                       .scope = TextOf(*found, "scope") == "session" ? confirm::Scope::kSession : confirm::Scope::kOnce,
                       .by = TextOf(*found, "by")});
  }
  UsedApproval(const UsedApproval&) = delete;
  UsedApproval& operator=(const UsedApproval&) = delete;
  ~UsedApproval() {
    if (!digest_.empty()) approvals_.Withdraw(context_, digest_);
  }

 private:
  confirm::CarriedApprovals& approvals_;
  std::string context_;
  std::string digest_;
};

}  // namespace

void KeeperHouse::Enter(const ContextSession* session, const std::string& context, const std::stop_source& stop) {
  const std::scoped_lock lock(mutex_);
  running_.insert_or_assign(session, Running{context, stop});
}

void KeeperHouse::Leave(const ContextSession* session) {
  const std::scoped_lock lock(mutex_);
  running_.erase(session);
}

void KeeperHouse::StopSessionsIn(const std::string& context) {
  std::vector<std::stop_source> stops;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [session, running] : running_)
      if (running.context == context) stops.push_back(running.stop);
  }
  for (std::stop_source& stop : stops) stop.request_stop();
}

void KeeperHouse::End() {
  ending_ = true;
  Wake();
}

void KeeperHouse::Wake() const {
  (void)::eventfd_write(wake_, 1);
}

void ContextSession::HangUp() const {
  if (!asked_to_end_) ::shutdown(socket_.get(), SHUT_RDWR);
}

void ContextSession::Serve() {
  try {
    Talk();
  } catch (const std::exception&) {
    HangUp();  // no memory, or no thread to be had: this session is lost, and no other
  }
  // Who asked the keeper to end keeps the connection until it has.
  if (!asked_to_end_) HangUp();
  done_ = true;
  asked_to_end_ ? house_.End() : house_.Wake();
}

void ContextSession::Talk() {
  const auto deadline = base::Deadline::After(kPatience);
  const Json hello = {{"hello", 1}, {"program", house_.identity()}};
  if (!SendFrame(socket_.get(), json::Text(hello), deadline)) return;
  const auto text = reader_.Next(deadline);
  if (!text || !*text) return;
  const Json request = json::Parse(**text);
  if (!request.is_object()) return;
  auto answer = Answer(request);
  const auto failure = [](const base::Error& error) {
    return Json{{"error", {{"code", base::RowOf(error.code).name}, {"message", base::ToValidUtf8(error.message)}}}};
  };
  const auto until = base::Deadline::After(kPatience);
  const auto sent = SendFrame(socket_.get(), json::Text(answer ? *answer : failure(answer.error())), until);
  if (!sent && sent.error().code == base::Code::kTooLarge)
    (void)SendFrame(socket_.get(), json::Text(failure(sent.error())), until);
  asked_to_end_ = TextOf(request, "do") == "stop";
}

base::Result<ContextSession::Json> ContextSession::Answer(const Json& request) {
  const std::string what = TextOf(request, "do");
  const std::string context = TextOf(request, "context");
  engine::ContextManager& contexts = house_.contexts();
  Json done = {{"done", true}};
  if (what == "run") return RunCell(request);
  if (what == "consider") return Consider(request);
  if (what == "list") return List();
  if (what == "fork") return Fork(request);
  if (what == "stop") return done;
  if (what == "interrupt") {
    SKERRY_ASSIGN_OR_RETURN(const bool busy, contexts.Interrupt(context));
    house_.StopSessionsIn(context);
    return Json{{"done", true}, {"busy", busy}};
  }
  if (what != "restart" && what != "delete")
    return base::Err(base::Code::kInvalidArgument, "the keeper of contexts does not know what is asked of it");
  house_.StopSessionsIn(context);
  house_.approvals().remembered().Forget(context);
  SKERRY_RETURN_IF_ERROR(what == "restart" ? contexts.Restart(context) : contexts.Remove(context));
  return done;
}

ContextSession::Json ContextSession::List() const {
  Json rows = Json::array();
  for (const engine::ContextSummary& each : house_.contexts().List())
    rows.push_back({{"name", each.name},
                    {"language", core::NameOf(each.language)},
                    {"state", engine::NameOf(each.condition)},
                    {"cells", each.cells},
                    {"created_ms", Milliseconds(each.created).count()},
                    {"last_used_ms", Milliseconds(each.last_used).count()},
                    {"start", core::NameOf(each.start)}});
  return {{"contexts", std::move(rows)}};
}

base::Result<ContextSession::Json> ContextSession::Fork(const Json& request) {
  SKERRY_ASSIGN_OR_RETURN(const engine::ForkReport report,
                          house_.contexts().Fork(TextOf(request, "context"), TextOf(request, "new_context")));
  return Json{{"done", true},
              {"variables_left_out", ValidTexts(report.variables)},
              {"files_left_out", ValidTexts(report.files)}};
}

// While the cell runs the client may ask to interrupt it, or go away.
void ContextSession::Watch(const std::stop_source& stop, int cell_ended) {
  for (;;) {
    std::array entries = {pollfd{socket_.get(), POLLIN, 0}, pollfd{cell_ended, POLLIN, 0}};
    (void)::poll(entries.data(), entries.size(), -1);
    if (entries[1].revents != 0) return;
    if (entries[0].revents == 0) continue;
    const bool there = reader_.Fill();
    while (const auto text = reader_.Take()) {
      const Json word = json::Parse(*text);
      if (!word.is_object() || TextOf(word, "do") == "interrupt") stop.request_stop();
    }
    if (there) continue;
    stop.request_stop();
    return;
  }
}

base::Result<ContextSession::Json> ContextSession::Consider(const Json& request) {
  SKERRY_ASSIGN_OR_RETURN(const AskedCell asked, CellOf(house_.contexts(), request));
  const std::string digest = engine::DigestOfCell(asked.context, asked.language, asked.cell);
  return Json{{"language", core::NameOf(asked.language)},
              {"digest", digest},
              {"approved", house_.approvals().remembered().Remembers(asked.context, digest)}};
}

base::Result<ContextSession::Json> ContextSession::RunCell(const Json& request) {
  engine::ContextManager& contexts = house_.contexts();
  SKERRY_ASSIGN_OR_RETURN(const AskedCell asked, CellOf(contexts, request));
  json::CellReport report{.context = asked.context, .language = asked.language};
  const core::Cell& cell = asked.cell;
  const UsedApproval approval(house_.approvals().carried(), asked.context, request);
  const base::UniqueFd ended(::eventfd(0, EFD_CLOEXEC));
  const std::stop_source stop;
  ContextSink sink(socket_.get(), stop);
  const auto start = std::chrono::steady_clock::now();
  base::Result<core::CellResult> result;
  {
    const std::jthread watch([&] { Watch(stop, ended.get()); });
    house_.Enter(this, report.context, stop);
    result = contexts.Run(report.context, report.language, cell, sink, stop.get_token());
    house_.Leave(this);
    (void)::eventfd_write(ended.get(), 1);
  }
  report.execution_time =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
  // Half a frame may be on its way: nothing can follow it.
  if (!sink.Finish(base::Deadline::After(kPatience))) HangUp();
  if (!result) return std::unexpected(result.error());
  report.result = std::move(*result);
  if (const auto summary = contexts.Find(report.context)) {
    report.start = summary->start;
    report.cell = summary->cells;
    report.degraded = summary->degraded;
  }
  return Json{{"result", json::Parse(json::ToJson(report))}};
}

}  // namespace skerry::cli
