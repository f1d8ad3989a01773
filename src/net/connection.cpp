#include "net/connection.hpp"

#include <optional>
#include <string_view>

#include <arpa/inet.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "net/connect.hpp"
#include "net/stream.hpp"

namespace skerry::net {
namespace {

namespace net = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using Parser = http::response_parser<http::buffer_body>;

constexpr std::size_t kPiece = std::size_t{64} << 10U;
constexpr std::uint32_t kMaxHeaders = std::uint32_t{64} << 10U;

std::unexpected<base::Error> TookTooLong() {
  return base::Err(base::Code::kTimeout, "the daemon did not answer in time");
}

std::unexpected<base::Error> Lost(const std::string& when) {
  return base::Err(base::Code::kUnavailable, "the connection to the daemon was lost " + when);
}

std::unexpected<base::Error> NoHttp(const error_code& error) {
  return base::Err(base::Code::kUnavailable, "what answers is no daemon of Skerry: " + error.message());
}

bool IsAddress(const std::string& host) {
  in6_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 || ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

base::Status TrustAsTold(net::ssl::context& context, const Endpoint& endpoint) {
  error_code error;
  context.set_options(net::ssl::context::default_workarounds | net::ssl::context::no_sslv2 |
                          net::ssl::context::no_sslv3 | net::ssl::context::no_tlsv1 | net::ssl::context::no_tlsv1_1,
                      error);
  if (!error) context.set_verify_mode(net::ssl::verify_peer, error);
  if (!error) context.set_verify_callback(net::ssl::host_name_verification(endpoint.host), error);
  if (!error) context.set_default_verify_paths(error);
  if (error) return base::Err(base::Code::kInternal, "TLS cannot be used: " + error.message());
  if (endpoint.certificates.empty()) return {};
  context.load_verify_file(endpoint.certificates, error);
  if (error)
    return base::Err(base::Code::kInvalidArgument,
                     "no certificates can be read from " + endpoint.certificates + ": " + error.message());
  return {};
}

std::unexpected<base::Error> NotTrusted(const Endpoint& endpoint, const error_code& error, SSL* tls) {
  const long verdict = ::SSL_get_verify_result(tls);
  const std::string why = verdict == X509_V_OK ? error.message() : ::X509_verify_cert_error_string(verdict);
  return base::Err(base::Code::kUnavailable, "no secure connection to " + endpoint.Describe() + ": " + why);
}

}  // namespace

base::Status Stream::StartTls(const Endpoint& endpoint, base::Deadline deadline) {
  context_.emplace(net::ssl::context::tls_client);
  SKERRY_RETURN_IF_ERROR(TrustAsTold(*context_, endpoint));
  tls_.emplace(socket_, *context_);
  SSL* tls = tls_->native_handle();
  // SSL_set_tlsext_host_name without the macro's old-style cast.
  if (!IsAddress(endpoint.host)) {
    std::string host = endpoint.host;
    ::SSL_ctrl(tls, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, host.data());
  }
  std::optional<error_code> result;
  tls_->async_handshake(net::ssl::stream_base::client, [&result](const error_code& error) { result = error; });
  if (!RunUntil(deadline, [&] { return result.has_value(); })) {
    Close();
    RunUntil(base::Deadline::Never(), [&] { return result.has_value(); });  // it refers to this frame
    return TookTooLong();
  }
  if (*result) return NotTrusted(endpoint, *result, tls);
  return {};
}

base::Result<std::unique_ptr<Stream>> Stream::Open(const Endpoint& endpoint, base::Deadline deadline) {
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd fd, ConnectSocket(endpoint, deadline));
  try {
    auto stream = std::make_unique<Stream>();
    const int family = endpoint.kind == Endpoint::Kind::kUnix ? AF_UNIX : AF_UNSPEC;
    error_code error;
    stream->socket_.assign(net::generic::stream_protocol(family, 0), fd.get(), error);
    if (error) return base::Err(base::Code::kInternal, "a socket cannot be used: " + error.message());
    static_cast<void>(fd.Release());
    if (endpoint.kind == Endpoint::Kind::kTls) SKERRY_RETURN_IF_ERROR(stream->StartTls(endpoint, deadline));
    return stream;
  } catch (const std::exception& thrown) {  // Asio's constructors
    return base::Err(base::Code::kInternal, std::string("a connection cannot be made: ") + thrown.what());
  }
}

// A read is under way whenever something is waited for: only so is an answer seen that comes before its request is
// sent, and TLS keeps its own traffic to itself.
struct Connection::State {
  explicit State(std::unique_ptr<Stream> opened) : stream(std::move(opened)) {}

  void StartRead() {
    if (reading || ended) return;
    reading = true;
    stream->async_read_some(net::buffer(piece), [this](const error_code& error, std::size_t size) {
      reading = false;
      if (error) ended = error;
      received |= size > 0;
      input.append(piece.data(), size);
    });
  }

  base::Status AwaitInput(base::Deadline deadline) {
    StartRead();
    if (!stream->RunUntil(deadline, [this] { return !reading; })) return TookTooLong();
    return {};
  }

  // One step over what has come; gives how much the parser took.
  base::Result<std::size_t> Parse() {
    error_code error;
    const std::size_t taken = parser->put(net::buffer(input), error);
    input.erase(0, taken);
    if (error && error != http::error::need_more && error != http::error::need_buffer) return NoHttp(error);
    return taken;
  }

  void NewParser() {
    parser.emplace();
    parser->header_limit(kMaxHeaders);
    parser->body_limit(boost::none);
    parser->skip(body_rule == AnswerBody::kNone);
  }

  // The end of the connection is the end of the answer, where that said so.
  base::Status EndByClose() {
    error_code error;
    if (*ended == net::error::eof && parser->need_eof()) parser->put_eof(error);
    if (error || !parser->is_done()) return Lost("in the middle of an answer");
    return {};
  }

  [[nodiscard]] AnswerHead Head() const {
    AnswerHead head{.status = static_cast<int>(parser->get().result_int())};
    for (const auto& field : parser->get())
      head.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
    return head;
  }

  std::string piece = std::string(kPiece, '\0');
  std::string input;  // read and not parsed
  std::string output;
  bool reading = false;
  bool writing = false;
  bool stopped = false;  // the request was not sent to its end
  bool sent = false;
  bool received = false;
  AnswerBody body_rule = AnswerBody::kAsItSays;
  std::optional<error_code> ended;  // why nothing more comes
  error_code write_error;
  std::optional<Parser> parser;
  std::unique_ptr<Stream> stream;  // ends first: what is under way uses the rest
};

Connection::Connection(std::unique_ptr<State> state) : state_(std::move(state)) {}
Connection::~Connection() = default;

base::Result<std::unique_ptr<Connection>> Connection::Open(const Endpoint& endpoint, base::Deadline deadline) {
  SKERRY_ASSIGN_OR_RETURN(auto stream, Stream::Open(endpoint, deadline));
  return std::unique_ptr<Connection>(new Connection(std::make_unique<State>(std::move(stream))));
}

bool Connection::StillThere() {
  state_->StartRead();
  state_->stream->Poll();
  return state_->reading;
}

void Connection::BeginExchange(AnswerBody body) {
  state_->body_rule = body;
  state_->sent = state_->received = state_->stopped = false;
  state_->NewParser();
}

base::Result<Connection::Sent> Connection::Write(std::string bytes, base::Deadline deadline) {
  State& state = *state_;
  state.StartRead();
  state.output = std::move(bytes);
  state.writing = true;
  net::async_write(*state.stream, net::buffer(state.output), [&state](const error_code& error, std::size_t size) {
    state.writing = false;
    state.write_error = error;
    state.sent |= size > 0;
  });
  const bool in_time = state.stream->RunUntil(deadline, [&state] { return !state.writing || !state.reading; });
  state.stream->Poll();  // both may be over
  state.sent |= state.writing;
  if (!in_time) return TookTooLong();
  if (!state.writing && state.reading && !state.write_error) return Sent::kAll;
  if (state.writing || state.write_error) state.stopped = true;
  return Sent::kStopped;
}

void Connection::LeaveRequest() {
  state_->stopped = true;
}

base::Result<AnswerHead> Connection::ReadHead(base::Deadline deadline) {
  State& state = *state_;
  for (;;) {
    SKERRY_RETURN_IF_ERROR(state.input.empty() ? base::Result<std::size_t>(0) : state.Parse());
    if (state.parser->is_header_done()) {
      constexpr int kFinal = 200;
      if (state.parser->get().result_int() >= kFinal) break;
      state.NewParser();  // "100 Continue" and the like
      continue;
    }
    if (state.ended) return Lost(state.received ? "in the middle of an answer" : "before it answered");
    SKERRY_RETURN_IF_ERROR(state.AwaitInput(deadline));
  }
  state.parser->eager(true);
  return state.Head();
}

base::Result<std::string> Connection::ReadBody(base::Deadline deadline) {
  State& state = *state_;
  while (!state.parser->is_done()) {
    std::size_t taken = 0;
    if (!state.input.empty()) {
      std::string bytes(kPiece, '\0');
      auto& body = state.parser->get().body();
      body.data = bytes.data();
      body.size = bytes.size();
      SKERRY_ASSIGN_OR_RETURN(taken, state.Parse());
      bytes.resize(bytes.size() - body.size);
      if (!bytes.empty()) return bytes;
    }
    if (taken > 0) continue;
    if (state.input.size() > kPiece) return NoHttp(http::error::bad_chunk);
    if (!state.ended) {
      SKERRY_RETURN_IF_ERROR(state.AwaitInput(deadline));
    } else {
      SKERRY_RETURN_IF_ERROR(state.EndByClose());
    }
  }
  return std::string();
}

bool Connection::HasSent() const {
  return state_->sent;
}

bool Connection::HasReceived() const {
  return state_->received;
}

bool Connection::CanBeUsedAgain() const {
  const State& state = *state_;
  return state.parser->is_done() && state.parser->keep_alive() && !state.stopped && !state.writing &&
         !state.write_error && !state.ended && state.input.empty();
}

}  // namespace skerry::net
