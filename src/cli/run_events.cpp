#include "cli/run_events.hpp"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "cli/answer.hpp"
#include "cli/terminal.hpp"
#include "json/base64.hpp"
#include "json/text.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;
using net::EventParser;
using net::Incoming;
using net::ServerEvent;

}  // namespace

base::Status FailureIn(const Json& result) {
  const std::string name = TextIn(result, "error_code");
  if (name.empty()) return {};
  const auto rows = base::CodeTable();
  const auto row = std::ranges::find(rows, name, &base::CodeRow::name);
  return base::Err(row == rows.end() ? base::Code::kInternal : row->code, TextIn(result, "error"));
}

base::Status RunEvents::Follow(Incoming& answer) {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(100);
  EventParser parser;
  while (!ended_) {
    if (signals_.signal() != 0 || reader_left_) Cancel();
    if (patience_ && patience_->Expired()) return {};
    auto bytes = answer.Read(base::Deadline::After(kBetweenLooks));
    if (!bytes && bytes.error().code == base::Code::kTimeout) continue;
    if (!bytes) return std::unexpected(bytes.error());
    if (bytes->empty()) break;
    SKERRY_RETURN_IF_ERROR(parser.Feed(*bytes));
    while (const auto event = parser.Next()) Take(*event);
  }
  desk_.Withdraw();
  sink_.Finish();
  if (ended_) return {};
  return base::Err(base::Code::kUnavailable, "the daemon ended before the run; see GET /v1/executions/" + execution_);
}

void RunEvents::Take(const ServerEvent& event) {
  const Json data = json::Parse(event.data);
  if (event.name == "started") execution_ = TextIn(data, "execution_id");
  if (event.name == "approval") return desk_.Ask(data);
  if (event.name == "stdout") TakeOutput(core::Stream::kStdout, data);
  if (event.name == "stderr") TakeOutput(core::Stream::kStderr, data);
  if (event.name == "result") result_ = data;
  if (event.name != "exit") return;
  ended_ = true;
  // A run that was lost with its daemon has no result event.
  if (result_.is_null()) result_ = data;
}

void RunEvents::TakeOutput(core::Stream stream, const Json& piece) {
  desk_.Withdraw();
  const auto exact = json::FromBase64(TextIn(piece, "base64"));
  const std::string bytes = exact && !exact->empty() ? *exact : TextIn(piece, "text");
  if (output_ == Output::kCollected) {
    (stream == core::Stream::kStdout ? standard_output_ : standard_error_) += bytes;
  } else if (!reader_left_) {
    // A reader without room must not keep the run from being cancelled; output after that is shown as well.
    sink_.Heed(patience_ ? -1 : signals_.interrupt_fd());
    (void)sink_.Write(stream, bytes, patience_.value_or(base::Deadline::Never()));
    reader_left_ = sink_.error() != 0;
  }
}

void RunEvents::Cancel() {
  constexpr auto kPatience = std::chrono::seconds(10);
  if (patience_ || execution_.empty()) return;
  desk_.Withdraw();
  patience_ = base::Deadline::After(kPatience);
  const auto cancelled = daemon_.Again().Ask("POST", "/v1/executions/" + net::Escape(execution_) + "/cancel");
  if (!cancelled) Note("cannot cancel the run: " + cancelled.error().message);
}

base::Status RunEvents::Failure() const {
  return FailureIn(result_);
}

int RunEvents::ExitCode() const {
  if (ended_ && TextIn(result_, "outcome") != "cancelled") return static_cast<int>(NumberIn(result_, "exit_code"));
  if (signals_.signal() != 0) return 128 + signals_.signal();
  if (sink_.error() == EPIPE) return 128 + SIGPIPE;
  return base::RowOf(base::Code::kInternal).exit_code;
}

}  // namespace skerry::cli
