#include "transport/v1/attachment.hpp"

#include <deque>
#include <utility>

#include "engine/views/signals.hpp"
#include "json/strict.hpp"
#include "json/text.hpp"
#include "transport/kit/access_check.hpp"
#include "transport/v1/run_json.hpp"

namespace skerry::transport::v1 {
namespace {

constexpr std::size_t kAtOnce = std::size_t{64} << 10U;

class Attachment : public http::Conversation {
 public:
  Attachment(Api& api, std::shared_ptr<engine::RunAttachment> attached)
      : api_(api), attached_(std::move(attached)), run_(attached_->run()) {}

  void Begin(std::function<void()> wake) override {
    wake_ = wake;
    tick_ = api_.ticker.Register(wake);
    watch_ = engine::Run::WatchIt(run_, std::move(wake));
  }

  http::Pull Next(http::WebSocketMessage& message) override {
    if (said_exit_ || !access_check_.Holds()) return http::Pull::kEnd;
    if (pieces_.empty()) {
      // Read before the output: nothing is written after the end.
      end_ = run_->end();
      auto pieces = attached_->Next(kAtOnce);
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
      if (auto waiting = WaitingFor(attached_->access(), *run_)) {
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
    const auto taken = attached_->Feed(std::string_view(message.bytes).substr(fed_));
    if (!taken) {  // the program takes no more input: drop it
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

  void Closed() override { attached_->Leave(); }

 private:
  static http::Pull Say(http::WebSocketMessage& message, const Json& words) {
    message.kind = http::WebSocketMessage::Kind::kText;
    message.bytes = json::Text(words);
    return http::Pull::kMore;
  }

  // The pipe is full: a worker waits for room.
  void AwaitRoom() {
    const bool waits = api_.workers.Submit([attached = attached_, wake = wake_] {
      (void)attached->AwaitRoom(base::Deadline::After(std::chrono::seconds(1)));
      wake();
    });
    if (!waits) wake_();
  }

  // Unknown messages are ignored: a newer client may send more kinds.
  void Heed(const std::string& text) {
    const auto words = json::ParseStrict(text);
    if (!words) return;
    json::Fields fields(*words);
    const auto type = fields.Text("type", 32);
    if (!type) return;
    if (*type == "end") (void)attached_->EndInput();
    if (const auto number = engine::SignalNumber(fields.Text("signal", 32).value_or("")); number && *type == "signal")
      (void)attached_->Signal(*number);
    if (*type != "resize") return;
    const auto rows = fields.Number("rows", 1, 1000);
    const auto columns = fields.Number("columns", 1, 1000);
    if (rows && columns) (void)attached_->Resize({.rows = *rows, .columns = *columns});
  }

  Api& api_;
  const std::shared_ptr<engine::RunAttachment> attached_;
  const std::shared_ptr<const engine::Run> run_;
  kit::AccessCheck access_check_{attached_->access()};
  std::function<void()> wake_;
  engine::Run::Watch watch_;
  kit::Ticker::Registration tick_;
  std::deque<engine::OutputPiece> pieces_;
  std::shared_ptr<const engine::RunEnd> end_;
  std::size_t fed_ = 0;  // bytes that were taken of the message that did not fit
  bool asked_ = false;
  bool said_exit_ = false;
};

}  // namespace

http::Response AttachmentAnswer(Api& api, std::shared_ptr<engine::RunAttachment> attached) {
  http::Response response{.status = 101};
  response.body = std::make_unique<Attachment>(api, std::move(attached));
  return response;
}

}  // namespace skerry::transport::v1
