// The WebSocket of a client, by Beast.
#include "net/web_socket.hpp"

#include <algorithm>
#include <exception>
#include <optional>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "net/refusal.hpp"
#include "net/request_text.hpp"
#include "net/web_socket_stream.hpp"

namespace skerry::net {
namespace {

namespace beast = boost::beast;
namespace websocket = beast::websocket;
using boost::system::error_code;

constexpr std::chrono::seconds kPatienceForClose{2};
constexpr std::size_t kMaxHandshake = std::size_t{1} << 20U;  // with the body of a refusal
constexpr bool kDeflate = false;                              // nobody is asked for compression
constexpr std::size_t kMaxMessage = std::size_t{16} << 20U;

Headers HeadersOf(const Endpoint& endpoint, const WebSocketRequest& request) {
  Headers headers = CommonHeaders(endpoint);
  headers.insert(headers.end(), request.headers.begin(), request.headers.end());
  std::string offered;
  for (const std::string& each : request.subprotocols) offered += (offered.empty() ? "" : ", ") + each;
  if (!offered.empty()) headers.emplace_back("Sec-WebSocket-Protocol", offered);
  return headers;
}

}  // namespace

// Unless a message waits to be received, a read is under way, also between calls: so pings are answered in every call,
// and no bytes stay unseen in a buffer.
struct WebSocket::State {
  State(const Endpoint& whom, std::unique_ptr<Socket> opened)
      : endpoint(whom), stream(std::move(opened)), socket(stream) {
    socket.read_message_max(kMaxMessage);
  }

  std::unexpected<base::Error> Lost() const {
    return base::Err(base::Code::kUnavailable, "the connection to the " + endpoint.called + " was lost");
  }
  std::unexpected<base::Error> NotOpened(const std::string& why) const {
    return base::Err(base::Code::kUnavailable, "the " + endpoint.called + " does not open a WebSocket: " + why);
  }

  base::Status Handshake(const WebSocketRequest& request, Patience& patience) {
    socket.set_option(websocket::stream_base::decorator([headers = HeadersOf(endpoint, request)](auto& head) {
      for (const auto& [name, value] : headers) head.insert(name, value);
    }));
    websocket::response_type answer;
    std::optional<error_code> result;
    socket.async_handshake(answer, HostOf(endpoint), request.target,
                           [&result](const error_code& error) { result = error; });
    const auto done = [&result] { return result.has_value(); };
    stream.LimitInput(kMaxHandshake);
    if (!stream.RunUntil(patience, done)) {
      stream.Close();
      stream.Drain(done);  // the handler refers to `result` and `answer`
      return patience.Fault(endpoint.called);
    }
    stream.LimitInput(std::nullopt);
    if (*result == websocket::error::upgrade_declined)
      return std::unexpected(ErrorOf(static_cast<int>(answer.result_int()), answer.body(), endpoint.called));
    if (*result) return NotOpened(result->message());
    SKERRY_RETURN_IF_ERROR(TakeSubprotocol(request, answer));
    StartRead();
    return {};
  }

  base::Status TakeSubprotocol(const WebSocketRequest& request, const websocket::response_type& answer) {
    if (answer.count(beast::http::field::sec_websocket_protocol) == 0) return {};
    const auto chosen = answer[beast::http::field::sec_websocket_protocol];
    subprotocol.assign(chosen.data(), chosen.size());
    if (std::ranges::find(request.subprotocols, subprotocol) != request.subprotocols.end()) return {};
    return NotOpened("it chose a subprotocol that was not offered");
  }

  void StartRead() {
    if (reading || message || ended) return;
    reading = true;
    socket.async_read(input, [this](const error_code& error, std::size_t /*size*/) {
      reading = false;
      if (error) {
        ended = error;
        return;
      }
      message = Message{.kind = socket.got_text() ? Kind::kText : Kind::kBinary,
                        .bytes = beast::buffers_to_string(input.data())};
      input.consume(input.size());
    });
    stream.Poll();
  }

  [[nodiscard]] base::Result<Message> End() const {
    if (*ended != websocket::error::closed) return Lost();
    const auto& reason = socket.reason().reason;
    return Message{.kind = Kind::kClosed, .bytes = std::string(reason.data(), reason.size())};
  }

  const Endpoint endpoint;
  std::string subprotocol;
  beast::flat_buffer input;
  std::optional<Message> message;
  std::string output;
  bool reading = false;
  std::optional<error_code> written;  // none while a write is under way
  std::optional<error_code> ended;
  WebSocketStream stream;
  websocket::stream<WebSocketStream&, kDeflate> socket;
};

WebSocket::WebSocket(std::unique_ptr<State> state) : state_(std::move(state)) {}
WebSocket::WebSocket(WebSocket&&) noexcept = default;
WebSocket::~WebSocket() = default;

base::Result<WebSocket> WebSocket::Open(const Endpoint& endpoint, std::unique_ptr<Socket> socket,
                                        const WebSocketRequest& request, Patience& patience) {
  try {
    auto state = std::make_unique<State>(endpoint, std::move(socket));
    SKERRY_RETURN_IF_ERROR(state->Handshake(request, patience));
    return WebSocket(std::move(state));
  } catch (const std::exception& thrown) {  // Asio's constructors
    return base::Err(base::Code::kInternal, std::string("a connection cannot be made: ") + thrown.what());
  }
}

const std::string& WebSocket::subprotocol() const {
  return state_->subprotocol;
}

int WebSocket::fd() const {
  return state_->stream.fd();
}

bool WebSocket::HasBuffered() const {
  return state_->message.has_value() || state_->ended.has_value();
}

base::Result<WebSocket::Message> WebSocket::Receive(base::Deadline deadline, const std::stop_token& stop) {
  State& state = *state_;
  const Patience patience(deadline, stop);
  state.StartRead();
  if (!state.stream.RunUntil(patience, [this] { return HasBuffered(); })) return patience.Fault(state.endpoint.called);
  if (!state.message) return state.End();
  Message message = std::move(*state.message);
  state.message.reset();
  state.StartRead();
  return message;
}

base::Status WebSocket::Send(Kind kind, std::string_view bytes, base::Deadline deadline, const std::stop_token& stop) {
  State& state = *state_;
  const Patience patience(deadline, stop);
  if (state.ended) return state.Lost();
  state.output = bytes;
  state.written.reset();
  state.socket.text(kind == Kind::kText);
  state.socket.async_write(boost::asio::buffer(state.output),
                           [&state](const error_code& error, std::size_t /*size*/) { state.written = error; });
  const auto done = [&state] { return state.written.has_value(); };
  if (!state.stream.RunUntil(patience, done)) {
    state.stream.Close();
    state.stream.Drain(done);
    state.stream.Poll();
    return patience.Fault(state.endpoint.called);
  }
  if (*state.written) return state.Lost();
  return {};
}

void WebSocket::Close() {
  State& state = *state_;
  if (state.ended) return state.stream.Close();
  std::optional<error_code> closed;
  state.socket.async_close(websocket::close_code::normal, [&closed](const error_code& error) { closed = error; });
  const auto done = [&closed] { return closed.has_value(); };
  const Patience patience(base::Deadline::After(kPatienceForClose), {});
  const bool in_time = state.stream.RunUntil(patience, done);
  state.stream.Close();
  if (!in_time) state.stream.Drain(done);
  state.stream.Poll();
  if (!state.ended) state.ended = websocket::error::closed;
}

}  // namespace skerry::net
