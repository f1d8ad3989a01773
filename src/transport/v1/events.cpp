// Events as they happen: over a WebSocket, or as server-sent events.
#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "engine/views/events_view.hpp"
#include "json/strict.hpp"
#include "json/text.hpp"
#include "transport/kit/access_check.hpp"
#include "transport/kit/event_stream.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/decision.hpp"

namespace skerry::transport::v1 {
namespace {

constexpr std::size_t kAtOnce = std::size_t{48} << 10U;
constexpr std::size_t kMostReplies = 64;  // unread by the client

Json GapToJson(const engine::EventBatch::Gap& gap) {
  return {{"type", "gap"},
          {"from", gap.from},
          {"to", gap.to},
          {"reason", "these events are no longer there; look at the sessions again"}};
}

Json DroppedToJson(std::uint64_t at) {
  return {{"type", "dropped"},
          {"sequence", at},
          {"reason", "this reader was too slow; connect again with after=" + std::to_string(at)}};
}

base::Result<engine::EventFeed> FeedOf(const engine::Access& access, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"session", "after", "types"}));
  engine::EventWish wish{.session = request.head.query.Find("session")};
  const std::string text = request.head.query.Find("types").value_or("");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    if (end > at) wish.types.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  constexpr std::uint64_t kNone = std::uint64_t{1} << 53U;
  SKERRY_ASSIGN_OR_RETURN(const std::uint64_t after, NumberOf(request, "after", 0, kNone - 1, kNone));
  if (after != kNone) wish.after = after;
  if (!wish.after) {
    // The header that a browser sends when it reconnects.
    SKERRY_ASSIGN_OR_RETURN(wish.after, kit::LastEventId(request));
  }
  return access.events().Follow(std::move(wish));
}

class EventStream : public http::Stream {
 public:
  EventStream(Api& api, engine::Access access, engine::EventFeed feed)
      : api_(api), access_(std::move(access)), feed_(std::move(feed)) {}

  void Begin(std::function<void()> wake) override {
    tick_ = api_.ticker.Register(wake);
    reader_ = feed_.Open(std::move(wake));
  }

  http::Pull Next(std::string& bytes) override {
    if (dropped_ || !access_check_.Holds() || api_.draining()) return http::Pull::kEnd;
    if (!std::exchange(begun_, true)) {
      bytes += ": follows\n\n";  // so that the client gets headers and a first byte at once
      return http::Pull::kMore;
    }
    const std::size_t before = bytes.size();
    const engine::EventBatch batch = reader_->Next(kAtOnce);
    if (batch.gap) Put(bytes, "gap", batch.gap->to, json::Text(GapToJson(*batch.gap)));
    for (const auto& event : batch.events) Put(bytes, event->type, event->sequence, event->text);
    if (batch.too_slow) {
      dropped_ = true;
      Put(bytes, "dropped", reader_->at(), json::Text(DroppedToJson(reader_->at())));
    }
    return alive_.After(bytes.size() == before ? http::Pull::kWait : http::Pull::kMore, before, bytes);
  }

 private:
  static void Put(std::string& bytes, std::string_view name, std::uint64_t id, std::string_view data) {
    kit::AppendEvent(bytes, {.name = name, .id = std::to_string(id), .data = data});
  }

  Api& api_;
  const engine::Access access_;
  kit::AccessCheck access_check_{access_};
  const engine::EventFeed feed_;
  std::unique_ptr<engine::EventReader> reader_;
  kit::Ticker::Registration tick_;
  kit::Heartbeat alive_;
  bool begun_ = false;
  bool dropped_ = false;
};

class EventConversation : public http::Conversation {
 public:
  EventConversation(Api& api, engine::Access access, engine::EventFeed feed)
      : api_(api), access_(std::move(access)), feed_(std::move(feed)) {}

  void Begin(std::function<void()> wake) override {
    wake_ = wake;
    tick_ = api_.ticker.Register(wake);
    reader_ = feed_.Open(std::move(wake));
  }

  http::Pull Next(http::WebSocketMessage& message) override {
    message.kind = http::WebSocketMessage::Kind::kText;
    if (!access_check_.Holds() || api_.draining()) return http::Pull::kEnd;
    if (!replies_.empty()) {
      message.bytes = std::move(replies_.front());
      replies_.pop_front();
      if (std::exchange(full_, false)) wake_();
      return http::Pull::kMore;
    }
    if (batch_.empty() && !Fetch()) return dropped_ ? http::Pull::kEnd : http::Pull::kWait;
    message.bytes = std::move(batch_.front());
    batch_.pop_front();
    return http::Pull::kMore;
  }

  bool Receive(const http::WebSocketMessage& message) override {
    full_ = replies_.size() >= kMostReplies;
    if (full_) return false;
    replies_.push_back(json::Text(Answer(message)));
    wake_();
    return true;
  }

  void Closed() override { reader_.reset(); }

 private:
  bool Fetch() {
    if (!reader_ || dropped_) return false;
    const engine::EventBatch batch = reader_->Next(kAtOnce);
    if (batch.gap) batch_.push_back(json::Text(GapToJson(*batch.gap)));
    for (const auto& event : batch.events) batch_.push_back(event->text);
    if (batch.too_slow) {
      dropped_ = true;
      batch_.push_back(json::Text(DroppedToJson(reader_->at())));
    }
    return !batch_.empty();
  }

  static Json Refused(const http::Refusal& refusal, const std::string& approval) {
    return {{"type", "refused"},
            {"approval_id", approval.empty() ? Json(nullptr) : Json(approval)},
            {"status", refusal.status},
            {"code", refusal.code},
            {"message", refusal.message}};
  }

  [[nodiscard]] Json Answer(const http::WebSocketMessage& message) const {
    const auto words = json::ParseStrict(message.bytes);
    if (!words) return Refused(http::RefusalOf(words.error()), "");
    json::Fields fields(*words);
    constexpr std::array<std::string_view, 1> kTypes = {"decide"};
    const auto type = fields.Word("type", kTypes);
    if (!type) fields.Fail("type", "must be decide");
    const std::string id = fields.Text("approval_id", 128).value_or("");
    engine::ApprovalDecision decision = ReadDecision(fields);
    if (const auto read = fields.Finish(); !read) return Refused(http::RefusalOf(read.error()), id);
    decision.approval = id;
    if (const auto refusal = Decide(access_, decision)) return Refused(*refusal, id);
    return {{"type", "decision"}, {"approval_id", id}, {"status", 200}, {"decision", WordOf(decision.verdict)}};
  }

  Api& api_;
  const engine::Access access_;
  kit::AccessCheck access_check_{access_};
  const engine::EventFeed feed_;
  std::function<void()> wake_;
  std::unique_ptr<engine::EventReader> reader_;
  kit::Ticker::Registration tick_;
  std::deque<std::string> batch_;
  std::deque<std::string> replies_;
  bool full_ = false;  // a message of the client waits for room among the replies
  bool dropped_ = false;
};

base::Result<http::Response> Follow(Api& api, const http::Request& request) {
  engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(engine::EventFeed feed, FeedOf(access, request));
  if (request.head.upgrade) {
    http::Response response{.status = 101};
    response.body = std::make_unique<EventConversation>(api, std::move(access), std::move(feed));
    return response;
  }
  return kit::EventStreamAnswer(std::make_unique<EventStream>(api, std::move(access), std::move(feed)));
}

}  // namespace

std::vector<http::Route> EventRoutes(Api& api) {
  return {MakeRoute(api, "GET", "/events", engine::kToFollow, Follow)};
}

}  // namespace skerry::transport::v1
