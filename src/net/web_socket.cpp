// The WebSocket of a client, by Beast.
#include <optional>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "net/client.hpp"
#include "net/request_text.hpp"
#include "net/stream.hpp"

namespace skerry::net {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using boost::system::error_code;

constexpr std::size_t kMaxMessage = std::size_t{16} << 20U;
constexpr std::chrono::seconds kPatienceForClose{2};

std::unexpected<base::Error> Lost() {
  return base::Err(base::Code::kUnavailable, "the connection to the daemon was lost");
}

std::unexpected<base::Error> TookTooLong() {
  return base::Err(base::Code::kTimeout, "the daemon did not answer in time");
}

}  // namespace

// While nothing has been received a read is under way, also between calls: so pings are answered in every call, and
// what is buffered on the way is never out of sight.
struct WebSocket::State {
  explicit State(std::unique_ptr<Stream> opened) : stream(std::move(opened)), socket(*stream) {
    socket.read_message_max(kMaxMessage);
  }

  base::Status Handshake(const Endpoint& endpoint, const std::string& target, base::Deadline deadline) {
    socket.set_option(websocket::stream_base::decorator([headers = CommonHeaders(endpoint)](auto& request) {
      for (const auto& [name, value] : headers) request.set(name, value);
    }));
    websocket::response_type answer;
    std::optional<error_code> result;
    socket.async_handshake(answer, HostOf(endpoint), target, [&result](const error_code& error) { result = error; });
    const bool in_time = stream->RunUntil(deadline, [&] { return result.has_value(); });
    if (!in_time) {
      stream->Close();
      stream->RunUntil(base::Deadline::Never(), [&] { return result.has_value(); });  // it refers to this frame
      return TookTooLong();
    }
    if (*result == websocket::error::upgrade_declined)
      return std::unexpected(ErrorOf(static_cast<int>(answer.result_int()), answer.body()));
    if (*result)
      return base::Err(base::Code::kUnavailable, "the daemon does not open a WebSocket: " + result->message());
    StartRead();
    return {};
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
    stream->Poll();
  }

  [[nodiscard]] base::Result<Message> End() const {
    if (*ended != websocket::error::closed) return Lost();
    const auto& reason = socket.reason().reason;
    return Message{.kind = Kind::kClosed, .bytes = std::string(reason.data(), reason.size())};
  }

  beast::flat_buffer input;
  std::optional<Message> message;
  std::string output;
  bool reading = false;
  std::optional<error_code> written;  // none while a write is under way
  std::optional<error_code> ended;
  std::unique_ptr<Stream> stream;
  websocket::stream<Stream&> socket;
};

WebSocket::WebSocket(std::unique_ptr<State> state) : state_(std::move(state)) {}
WebSocket::WebSocket(WebSocket&&) noexcept = default;
WebSocket::~WebSocket() = default;

base::Result<WebSocket> WebSocket::Open(const Endpoint& endpoint, const std::string& target, base::Deadline deadline) {
  SKERRY_ASSIGN_OR_RETURN(auto stream, Stream::Open(endpoint, deadline));
  auto state = std::make_unique<State>(std::move(stream));
  SKERRY_RETURN_IF_ERROR(state->Handshake(endpoint, target, deadline));
  return WebSocket(std::move(state));
}

int WebSocket::fd() const {
  return state_->stream->fd();
}

bool WebSocket::HasBuffered() const {
  return state_->message.has_value() || state_->ended.has_value();
}

base::Result<WebSocket::Message> WebSocket::Receive(base::Deadline deadline) {
  State& state = *state_;
  state.StartRead();
  if (!state.stream->RunUntil(deadline, [this] { return HasBuffered(); })) return TookTooLong();
  if (!state.message) return state.End();
  Message message = std::move(*state.message);
  state.message.reset();
  state.StartRead();
  return message;
}

base::Status WebSocket::Send(Kind kind, std::string_view bytes, base::Deadline deadline) {
  State& state = *state_;
  if (state.ended) return Lost();
  state.output = bytes;
  state.written.reset();
  state.socket.text(kind == Kind::kText);
  state.socket.async_write(net::buffer(state.output),
                           [&state](const error_code& error, std::size_t /*size*/) { state.written = error; });
  if (!state.stream->RunUntil(deadline, [&state] { return state.written.has_value(); })) {
    state.stream->Close();
    state.stream->RunUntil(base::Deadline::Never(), [&state] { return state.written.has_value(); });
    state.stream->Poll();
    return TookTooLong();
  }
  if (*state.written) return Lost();
  return {};
}

void WebSocket::Close() {
  State& state = *state_;
  if (state.ended) return state.stream->Close();
  std::optional<error_code> closed;
  state.socket.async_close(websocket::close_code::normal, [&closed](const error_code& error) { closed = error; });
  const auto done = [&closed] { return closed.has_value(); };
  const bool in_time = state.stream->RunUntil(base::Deadline::After(kPatienceForClose), done);
  state.stream->Close();
  if (!in_time) state.stream->RunUntil(base::Deadline::Never(), done);
  state.stream->Poll();
  if (!state.ended) state.ended = websocket::error::closed;
}

}  // namespace skerry::net
