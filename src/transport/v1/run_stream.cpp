#include "transport/v1/run_stream.hpp"

#include <utility>

#include "json/execution_json.hpp"
#include "json/text.hpp"
#include "transport/kit/access_check.hpp"
#include "transport/kit/event_stream.hpp"
#include "transport/v1/run_json.hpp"

namespace skerry::transport::v1 {
namespace {

constexpr std::size_t kAtOnce = std::size_t{48} << 10U;

class RunEvents : public http::Stream {
 public:
  RunEvents(Api& api, const http::Request& request, std::shared_ptr<const engine::Run> run, engine::OutputReader reader,
            std::shared_ptr<void> leash)
      : api_(api),
        access_(AccessOf(api, request)),
        run_(std::move(run)),
        reader_(std::move(reader)),
        leash_(std::move(leash)) {}

  void Begin(std::function<void()> wake) override {
    watch_ = engine::Run::WatchIt(run_, wake);
    tick_ = api_.ticker.Register(std::move(wake));
  }

  http::Pull Next(std::string& bytes) override {
    const std::size_t before = bytes.size();
    return alive_.After(Tell(bytes), before, bytes);
  }

 private:
  static void Put(std::string& bytes, std::string_view name, const Json& data, const std::string& id = "") {
    kit::AppendEvent(bytes, {.name = name, .id = id, .data = json::Text(data)});
  }

  http::Pull Tell(std::string& bytes) {
    if (ended_ || !access_check_.Holds()) return http::Pull::kEnd;
    if (!std::exchange(begun_, true)) Put(bytes, "started", {{"execution_id", run_->id()}});
    // Read before the output: nothing is written after the end.
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
      if (const auto waiting = WaitingFor(access_, *run_)) {
        asked_ = true;
        Put(bytes, "approval", *waiting);
        return http::Pull::kMore;
      }
    }
    return http::Pull::kWait;
  }

  void TellEnd(std::string& bytes, const engine::RunEnd& end) {
    ended_ = true;
    Json result = json::EndToJson(end, run_->id(), json::Streams::kLeftOut);
    // Some output was removed to make room: what was read is not all of it.
    if (reader_.offset() < run_->output_bytes()) result.update({{"output_truncated", true}, {"output_removed", true}});
    Put(bytes, "result", result);
    Put(bytes, "exit", ExitToJson(end));
  }

  Api& api_;
  const engine::Access access_;
  kit::AccessCheck access_check_{access_};
  std::shared_ptr<const engine::Run> run_;
  engine::OutputReader reader_;
  std::shared_ptr<void> leash_;
  engine::Run::Watch watch_;
  kit::Ticker::Registration tick_;
  kit::Heartbeat alive_;
  bool begun_ = false;
  bool asked_ = false;
  bool ended_ = false;
};

}  // namespace

base::Result<http::Response> EventsOf(Api& api, const http::Request& request, std::shared_ptr<const engine::Run> run,
                                      std::uint64_t offset, std::shared_ptr<void> leash) {
  SKERRY_ASSIGN_OR_RETURN(engine::OutputReader reader, run->Output(offset));
  return kit::EventStreamAnswer(
      std::make_unique<RunEvents>(api, request, std::move(run), std::move(reader), std::move(leash)));
}

}  // namespace skerry::transport::v1
