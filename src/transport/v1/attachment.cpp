#include "transport/v1/attachment.hpp"

#include <deque>
#include <utility>

#include "json/strict.hpp"
#include "json/text.hpp"
#include "transport/kit/admission.hpp"
#include "transport/v1/run_json.hpp"
#include "transport/v1/signals.hpp"

namespace skerry::transport::v1 {
namespace {

constexpr std::size_t kAtOnce = std::size_t{64} << 10U;

class Attachment : public http::Conversation {
 public:
  Attachment(Api& api, const http::Request& request, std::shared_ptr<engine::Run> run, engine::OutputReader reader)
      : api_(api),
        admission_(api.host.tokens(), request.caller.id),
        principal_(PrincipalOf(request)),
        run_(std::move(run)),
        reader_(std::move(reader)) {}
  ~Attachment() override {
    if (attached_) run_->Detach();
  }

  void Begin(std::function<void()> wake) override {
    wake_ = wake;
    tick_ = api_.ticker.Register(wake);
    watch_ = engine::Run::WatchIt(run_, std::move(wake));
  }

  http::Pull Next(http::WebSocketMessage& message) override {
    if (said_exit_ || !admission_.Holds()) return http::Pull::kEnd;
    if (pieces_.empty()) {
      // Before the last look at the output: nothing is written behind the end.
      end_ = run_->end();
      auto pieces = reader_.Next(kAtOnce);
      if (!pieces) return http::Pull::kEnd;
      pieces_.assign(std::make_move_iterator(pieces->begin()), std::make_move_iterator(pieces->end()));
    }
    if (!pieces_.empty()) {
      message.kind = http::WebSocketMessage::Kind::kBinary;
      message.bytes = (pieces_.front().stream == core::Stream::kStdout ? "\x01" : "\x02") + pieces_.front().bytes;
      pieces_.pop_front();
      return http::Pull::kMore;
    }
    if (end_) {
      said_exit_ = true;
      Json exit = ExitToJson(*end_);
      exit["type"] = "exit";
      if (end_->error) exit["error"] = end_->error->message;
      return Say(message, exit);
    }
    if (!asked_) {
      if (auto waiting = WaitingFor(api_, *run_)) {
        asked_ = true;
        (*waiting)["type"] = "approval";
        return Say(message, *waiting);
      }
    }
    return http::Pull::kWait;
  }

  bool Receive(const http::WebSocketMessage& message) override {
    if (message.kind == http::WebSocketMessage::Kind::kText) {
      Heed(message.bytes);
      return true;
    }
    const auto taken = run_->Feed(std::string_view(message.bytes).substr(fed_));
    if (!taken) {  // it reads no more: what comes is for nobody
      fed_ = 0;
      return true;
    }
    fed_ += *taken;
    if (fed_ < message.bytes.size()) {
      AwaitRoom();
      return false;
    }
    fed_ = 0;
    return true;
  }

  void Closed() override {
    if (std::exchange(attached_, false)) run_->Detach();
  }

 private:
  static http::Pull Say(http::WebSocketMessage& message, const Json& words) {
    message.kind = http::WebSocketMessage::Kind::kText;
    message.bytes = json::Text(words);
    return http::Pull::kMore;
  }

  // The pipe is full: somebody else looks when there is room.
  void AwaitRoom() {
    const bool waits = api_.workers.Submit([run = run_, wake = wake_] {
      (void)run->AwaitRoom(base::Deadline::After(std::chrono::seconds(1)));
      wake();
    });
    if (!waits) wake_();
  }

  // What makes no sense is passed over: a newer client may know more.
  void Heed(const std::string& text) {
    const auto words = json::ParseStrict(text);
    if (!words) return;
    json::Fields fields(*words);
    const auto type = fields.Text("type", 32);
    if (!type) return;
    if (*type == "end") (void)run_->EndInput();
    if (*type == "signal") Signal(fields.Text("signal", 32).value_or(""));
    if (*type != "resize") return;
    const auto rows = fields.Number("rows", 1, 1000);
    const auto columns = fields.Number("columns", 1, 1000);
    if (rows && columns) (void)run_->Resize({.rows = *rows, .columns = *columns});
  }

  // In the audit like one that is sent by a request of its own.
  void Signal(const std::string& name) {
    const auto number = SignalNumber(name);
    if (!number) return;
    const engine::Deed deed{
        .event = "run.signalled", .session = run_->record().session, .weight = engine::Deed::Weight::kEnding};
    if (api_.host.chronicle().Does(deed, principal_, {{"execution_id", run_->id()}, {"signal", name}}))
      (void)run_->Signal(*number);
  }

  Api& api_;
  kit::Admission admission_;
  const engine::Principal principal_;
  std::shared_ptr<engine::Run> run_;
  engine::OutputReader reader_;
  std::function<void()> wake_;
  engine::Run::Watch watch_;
  kit::Ticker::Registration tick_;
  std::deque<engine::OutputPiece> pieces_;
  std::optional<engine::RunEnd> end_;
  std::size_t fed_ = 0;  // of the message that did not fit
  bool attached_ = true;
  bool asked_ = false;
  bool said_exit_ = false;
};

}  // namespace

base::Result<http::Response> Attach(Api& api, const http::Request& request, std::shared_ptr<engine::Run> run,
                                    std::uint64_t offset, OnDisconnect on_disconnect) {
  SKERRY_ASSIGN_OR_RETURN(engine::OutputReader reader, run->Output(offset));
  if (on_disconnect == OnDisconnect::kCancel) run->EndUnattended();
  run->Attach();
  http::Response response{.status = 101};
  response.body = std::make_unique<Attachment>(api, request, std::move(run), std::move(reader));
  return response;
}

}  // namespace skerry::transport::v1
