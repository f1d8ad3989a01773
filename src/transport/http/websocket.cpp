#include "transport/http/websocket.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "transport/http/channel_stream.hpp"

namespace skerry::transport::http {
namespace {

// A library below may run out of memory: that ends this conversation and nothing else.
Pull NextOf(Conversation& conversation, WebSocketMessage& message) {
  try {
    return conversation.Next(message);
  } catch (const std::exception&) {
    return Pull::kEnd;
  }
}

namespace beast = boost::beast;
namespace websocket = beast::websocket;

constexpr std::chrono::seconds kPingAfter{30};
constexpr std::chrono::seconds kDeadAfter{60};
constexpr std::chrono::milliseconds kFarewell{2000};
constexpr std::size_t kSlice = std::size_t{64} << 10U;
constexpr double kTextCost = 16;                          // of a byte: the socket thread parses texts
constexpr std::chrono::milliseconds kMostPingDebt{2000};  // the library answers pings itself, and cannot put that off

beast::http::request<beast::http::empty_body> HandshakeOf(const RequestHead& head) {
  beast::http::request<beast::http::empty_body> request{beast::http::verb::get, head.target, 11};
  for (const auto& [name, value] : head.headers.fields()) request.insert(name, value);
  return request;
}

// Both directions of one WebSocket. The reader is a coroutine of its own; Run returns after it has ended.
class Talk {
 public:
  explicit Talk(WebSocketCall& call)
      : stream_(call.channel, *call.service.loop),
        socket_(stream_),
        call_(call),
        wake_(*call.service.loop),
        room_(*call.service.loop),
        over_(*call.service.loop),
        reader_pause_(*call.service.loop),
        writer_pause_(*call.service.loop) {}

  asio::awaitable<std::uint64_t> Run() {
    const auto waker = std::make_shared<Waker>(call_.service.loop, [this] {
      wake_.Notify();
      room_.Notify();
    });
    // Before the handshake is answered: a client that has the answer misses nothing that happens from then on.
    call_.conversation.Begin(waker->Function());
    if (!co_await Accept()) {
      waker->Disarm();
      call_.conversation.Closed();
      co_return 0;
    }
    call_.on_abort = [this] { Stop(); };
    call_.on_revoked = [this] { wake_.Notify(); };
    auto reader = Read();
    asio::co_spawn(*call_.service.loop, std::move(reader), asio::detached);
    co_await Write();
    waker->Disarm();
    Stop();
    if (!said_goodbye_) call_.channel.Close();
    if (!reader_is_over_) co_await over_.Wait();
    if (!said_goodbye_) call_.conversation.Closed();
    co_return bytes_;
  }

 private:
  void Stop() {
    ended_ = true;
    wake_.Notify();
    room_.Notify();
    reader_pause_.Notify();
    writer_pause_.Notify();
  }

  asio::awaitable<bool> Accept() {
    socket_.read_message_max(call_.service.options.limits.websocket_message);
    socket_.set_option(websocket::stream_base::decorator([this](websocket::response_type& response) {
      response.set(beast::http::field::server, "skerry");  // otherwise Beast sends its version
      response.set("X-Request-Id", call_.request_id);
      if (!call_.trace.empty()) response.set("traceparent", call_.trace);
    }));
    socket_.control_callback([this](websocket::frame_type, beast::string_view) {
      heard_ = Now();
      if (Charge(kMessageCost) > kMostPingDebt) call_.channel.Close();
    });
    const auto request = HandshakeOf(call_.head);
    ErrorCode error;
    call_.limit.Within(call_.service.options.limits.write_time);
    co_await socket_.async_accept(request, asio::redirect_error(asio::use_awaitable, error));
    call_.limit.Off();
    heard_ = Now();
    co_return !error;
  }

  asio::awaitable<void> Read() {
    beast::flat_buffer buffer;
    ErrorCode error;
    while (!ended_) {
      const std::size_t got =
          co_await socket_.async_read_some(buffer, kSlice, asio::redirect_error(asio::use_awaitable, error));
      if (error) break;
      heard_ = Now();
      if (socket_.got_text() && buffer.size() > call_.service.options.limits.websocket_text) {
        co_await SayGoodbye(websocket::close_code::too_big);
        break;
      }
      const double bytes = static_cast<double>(got) * (socket_.got_text() ? kTextCost : 1);
      reads_ = false;
      co_await Pace(bytes + (socket_.is_message_done() ? kMessageCost : 0), reader_pause_);
      reads_ = true;
      if (ended_ || !socket_.is_message_done()) continue;
      co_await Deliver(buffer);
      buffer.clear();
      if (buffer.capacity() > kKeptBuffer) buffer.shrink_to_fit();
    }
    reader_is_over_ = true;
    wake_.Notify();
    over_.Notify();
  }

  std::chrono::milliseconds Charge(double cost) {
    if (call_.payer.empty()) return {};
    return call_.service.flow.Charge(call_.payer, cost, Now());
  }

  // Every reader and every writer of a tenant is charged to the same share.
  asio::awaitable<void> Pace(double cost, Event& pause) {
    const auto wait = Charge(cost);
    if (wait.count() > 0 && !ended_) co_await pause.WaitFor(wait);
  }

  asio::awaitable<void> Deliver(const beast::flat_buffer& buffer) {
    const auto data = buffer.cdata();
    WebSocketMessage message;
    message.kind = socket_.got_text() ? WebSocketMessage::Kind::kText : WebSocketMessage::Kind::kBinary;
    message.bytes.assign(static_cast<const char*>(data.data()), data.size());
    while (!ended_ && !call_.conversation.Receive(message)) {
      reads_ = false;
      co_await room_.Wait();
    }
    reads_ = true;
    heard_ = Now();
  }

  asio::awaitable<void> Write() {
    while (!reader_is_over_ && !ended_) {
      WebSocketMessage message;
      const Pull pull = call_.revoked ? Pull::kEnd : NextOf(call_.conversation, message);
      if (pull == Pull::kEnd) {
        co_await SayGoodbye(websocket::close_code::normal);
        co_return;
      }
      if (pull == Pull::kMore && !co_await WriteOne(message)) co_return;
      if (pull == Pull::kWait && !co_await WaitAndPing()) co_return;
    }
  }

  asio::awaitable<bool> WriteOne(const WebSocketMessage& message) {
    ErrorCode error;
    socket_.text(message.kind == WebSocketMessage::Kind::kText);
    call_.limit.Within(call_.service.options.limits.write_time);
    co_await socket_.async_write(asio::buffer(message.bytes), asio::redirect_error(asio::use_awaitable, error));
    if (!said_goodbye_) call_.limit.Off();
    bytes_ += message.bytes.size();
    if (!error) co_await Pace(static_cast<double>(message.bytes.size()) + kMessageCost, writer_pause_);
    co_return !error;
  }

  // A client for whose messages there is no room is not read from, so its answers to pings are not seen either.
  asio::awaitable<bool> WaitAndPing() {
    co_await wake_.WaitFor(kPingAfter);
    const auto silence = Now() - heard_;
    if (reader_is_over_ || silence < kPingAfter) co_return !reader_is_over_;
    if (reads_ && silence > kDeadAfter) co_return false;
    ErrorCode error;
    call_.limit.Within(call_.service.options.limits.write_time);
    const websocket::ping_data nothing;
    co_await socket_.async_ping(nothing, asio::redirect_error(asio::use_awaitable, error));
    if (!said_goodbye_) call_.limit.Off();
    co_return !error;
  }

  asio::awaitable<void> SayGoodbye(websocket::close_code code) {
    if (said_goodbye_) co_return;
    ErrorCode error;
    said_goodbye_ = true;
    Stop();
    call_.limit.Within(kFarewell);
    const websocket::close_reason reason(code);
    co_await socket_.async_close(reason, asio::redirect_error(asio::use_awaitable, error));
    call_.channel.Close();
    call_.limit.Off();
  }

  static TimePoint Now() { return std::chrono::steady_clock::now(); }
  static constexpr std::size_t kKeptBuffer = std::size_t{16} << 10U;

  static constexpr bool kDeflate = false;  // nobody is offered compression

  ChannelStream stream_;
  websocket::stream<ChannelStream&, kDeflate> socket_;
  WebSocketCall& call_;
  Event wake_;  // the writer waits
  Event room_;  // the reader waits
  Event over_;  // the reader has ended
  Event reader_pause_;
  Event writer_pause_;
  TimePoint heard_;
  std::uint64_t bytes_ = 0;
  bool reads_ = true;
  bool ended_ = false;
  bool said_goodbye_ = false;
  bool reader_is_over_ = false;
};

}  // namespace

asio::awaitable<std::uint64_t> Converse(WebSocketCall& call) {
  Talk talk(call);
  co_return co_await talk.Run();
}

}  // namespace skerry::transport::http
