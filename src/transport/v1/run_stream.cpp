#include "transport/v1/run_stream.hpp"

#include <utility>

#include "json/text.hpp"
#include "transport/v1/admission.hpp"
#include "transport/v1/run_json.hpp"

namespace skerry::transport::v1 {
namespace {

constexpr std::size_t kAtOnce = std::size_t{48} << 10U;
constexpr std::chrono::seconds kSilence{15};  // after which a comment says that the stream is alive

class RunEvents : public http::Stream {
 public:
  RunEvents(Api& api, const http::Request& request, std::shared_ptr<engine::Run> run, engine::OutputReader reader,
            OnDisconnect on_disconnect)
      : api_(api),
        admission_(api, request),
        run_(std::move(run)),
        reader_(std::move(reader)),
        on_disconnect_(on_disconnect) {}
  ~RunEvents() override {
    if (!ended_ && on_disconnect_ == OnDisconnect::kCancel) run_->Cancel();
  }

  void Begin(std::function<void()> wake) override {
    watch_ = engine::Run::WatchIt(run_, wake);
    tick_ = api_.ticker.Register(std::move(wake));
  }

  http::Pull Next(std::string& bytes) override {
    const std::size_t before = bytes.size();
    const http::Pull pull = Tell(bytes);
    const auto now = std::chrono::steady_clock::now();
    if (bytes.size() == before && pull == http::Pull::kWait && now - last_ >= kSilence) {
      bytes += ": alive\n\n";
      last_ = now;
      return http::Pull::kMore;
    }
    if (bytes.size() != before) last_ = now;
    return pull;
  }

 private:
  static void Put(std::string& bytes, std::string_view name, const Json& data, const std::string& id = "") {
    bytes += "event: ";
    bytes += name;
    if (!id.empty()) bytes += "\nid: " + id;
    bytes += "\ndata: " + json::Text(data) + "\n\n";
  }

  http::Pull Tell(std::string& bytes) {
    if (ended_ || !admission_.Holds()) return http::Pull::kEnd;
    if (!std::exchange(begun_, true)) Put(bytes, "started", {{"execution_id", run_->id()}});
    // Before the last look at the output: nothing is written behind the end.
    const auto end = run_->end();
    const auto pieces = reader_.Next(kAtOnce);
    if (!pieces) return http::Pull::kEnd;
    for (const engine::OutputPiece& piece : *pieces) {
      Json data = PieceToJson(piece);
      const std::string name = data["stream"];
      data.erase("stream");
      Put(bytes, name, data, std::to_string(piece.offset + piece.bytes.size()));
    }
    if (!pieces->empty()) return http::Pull::kMore;
    if (end) {
      TellEnd(bytes, *end);
      return http::Pull::kMore;
    }
    if (!asked_) {
      if (const auto waiting = WaitingFor(api_, *run_)) {
        asked_ = true;
        Put(bytes, "approval", *waiting);
        return http::Pull::kMore;
      }
    }
    return http::Pull::kWait;
  }

  void TellEnd(std::string& bytes, const engine::RunEnd& end) {
    ended_ = true;
    Json result = json::Parse(end.result);
    if (result.is_object()) {
      result.erase("stdout");
      result.erase("stderr");
      if (reader_.offset() < run_->output_bytes()) TellRemoved(result);
      Put(bytes, "result", result);
    }
    Put(bytes, "exit", ExitToJson(end));
  }

  Api& api_;
  Admission admission_;
  std::shared_ptr<engine::Run> run_;
  engine::OutputReader reader_;
  OnDisconnect on_disconnect_;
  engine::Run::Watch watch_;
  Ticker::Registration tick_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  bool begun_ = false;
  bool asked_ = false;
  bool ended_ = false;
};

}  // namespace

bool WantsEvents(const http::Request& request) {
  const auto accept = request.head.headers.Find("Accept");
  return accept && accept->contains("text/event-stream");
}

base::Result<http::Response> EventsOf(Api& api, const http::Request& request, std::shared_ptr<engine::Run> run,
                                      std::uint64_t offset, OnDisconnect on_disconnect) {
  SKERRY_ASSIGN_OR_RETURN(engine::OutputReader reader, run->Output(offset));
  http::Response response{.headers = {{"Content-Type", "text/event-stream"}, {"X-Accel-Buffering", "no"}}};
  response.body = std::make_unique<RunEvents>(api, request, std::move(run), std::move(reader), on_disconnect);
  return response;
}

}  // namespace skerry::transport::v1
