#include "net/http_connection.hpp"

#include <poll.h>

#include <optional>
#include <string_view>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>

namespace skerry::net {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;
using Kind = Progress::Kind;
using Parser = http::response_parser<http::buffer_body>;

constexpr std::size_t kPiece = std::size_t{64} << 10U;
constexpr std::size_t kMaxAhead = std::size_t{1} << 20U;
constexpr std::uint32_t kMaxHeaders = std::uint32_t{64} << 10U;
constexpr int kMaxInterim = 32;  // "100 Continue" and the like, before the final answer
constexpr int kSwitchingProtocols = 101;
constexpr int kFirstFinal = 200;
constexpr int kFirstUnsuccessful = 300;

}  // namespace

struct HttpConnection::State {
  State(const Endpoint& whom, std::unique_ptr<Socket> opened) : endpoint(whom), socket(std::move(opened)) {}

  std::unexpected<base::Error> Lost(const std::string& when) const {
    return base::Err(base::Code::kUnavailable, "the connection to the " + endpoint.called + " was lost " + when +
                                                   (why.empty() ? "" : ": " + why));
  }

  std::unexpected<base::Error> NoHttp(const error_code& error) const {
    return base::Err(base::Code::kUnavailable,
                     "what answers at " + endpoint.Describe() + " does not speak HTTP: " + error.message());
  }

  // Reads what has come, without waiting.
  Progress Fill() {
    if (ended) return {.kind = Kind::kEnd};
    Progress progress = socket->TryRead(piece);
    if (progress.kind == Kind::kMoved) {
      received = true;
      input.append(piece.data(), progress.bytes);
    } else if (!progress.WantsWait()) {
      ended = true;
      broken = progress.kind == Kind::kBroken;
      why = progress.why;
    }
    return progress;
  }

  // Waits until more input has come, or its end.
  base::Status AwaitInput(Patience& patience) {
    for (;;) {
      const Progress progress = Fill();
      if (!progress.WantsWait()) return {};
      if (!socket->Await(progress, patience)) return patience.Fault(endpoint.called);
    }
  }

  // Gives the input to the parser; the result is how many bytes the parser took.
  base::Result<std::size_t> Parse() {
    error_code error;
    const std::size_t taken = parser->put(boost::asio::buffer(input), error);
    input.erase(0, taken);
    if (error && error != http::error::need_more && error != http::error::need_buffer) return NoHttp(error);
    return taken;
  }

  void NewParser() {
    head_size = 0;
    parser.emplace();
    parser->header_limit(kMaxHeaders);
    parser->body_limit(boost::none);
    parser->skip(expected.body == Expected::Body::kNone);
  }

  // Parses what has come of the head. True when the final head is whole; interim answers are passed over. An error
  // stays.
  base::Result<bool> TakeHead() {
    if (fault) return std::unexpected(*fault);
    while (!parser->is_header_done()) {
      if (input.empty()) return false;
      const auto taken = Parse();
      if (!taken) return Fail(taken.error());
      if (IsHeadTooLarge(*taken)) return Fail(NoHttp(http::error::header_limit).error());
      if (!parser->is_header_done()) return false;
      if (IsFinal()) break;
      if (Status() == kSwitchingProtocols)
        return Fail({base::Code::kUnavailable, "the " + endpoint.called + " switches to another protocol unasked"});
      if (++interim > kMaxInterim)
        return Fail({base::Code::kUnavailable, "the " + endpoint.called + " promises an answer again and again"});
      NewParser();
    }
    return true;
  }

  // Beast's limit is for what it sees at once; a head that comes line by line would have none.
  bool IsHeadTooLarge(std::size_t taken) {
    head_size += taken;
    return head_size + (parser->is_header_done() ? 0 : input.size()) > kMaxHeaders;
  }

  [[nodiscard]] bool IsFinal() const {
    const bool switches = Status() == kSwitchingProtocols && expected.protocol == Expected::Switch::kPossible;
    return Status() >= kFirstFinal || switches;
  }

  std::unexpected<base::Error> Fail(base::Error error) {
    fault = error;
    return std::unexpected(std::move(error));
  }

  // An answer without a length ends with its connection.
  base::Status EndByClose() {
    error_code error;
    if (!broken && parser->need_eof()) parser->put_eof(error);
    if (error || !parser->is_done()) return Lost("in the middle of an answer");
    return {};
  }

  [[nodiscard]] bool HasRoom() const { return input.size() < kMaxAhead; }
  [[nodiscard]] int Status() const { return static_cast<int>(parser->get().result_int()); }

  [[nodiscard]] AnswerHead Head() const {
    AnswerHead head{.status = Status()};
    for (const auto& field : parser->get())
      head.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
    return head;
  }

  const Endpoint endpoint;
  std::unique_ptr<Socket> socket;
  Expected expected;
  std::string piece = std::string(kPiece, '\0');
  std::string input;      // read and not parsed
  bool stopped = false;   // the request was not sent to its end
  bool sent = false;      // a byte of the request may have reached the server
  bool received = false;  // a byte of the answer has come
  bool ended = false;     // the server sends nothing more
  bool broken = false;    // the connection ended by an error
  std::string why;        // that error
  std::optional<Parser> parser;
  std::size_t head_size = 0;         // what the parser took of the head
  int interim = 0;                   // interim answers of this exchange
  std::optional<base::Error> fault;  // of the head
};

HttpConnection::HttpConnection(const Endpoint& endpoint, std::unique_ptr<Socket> socket)
    : state_(std::make_unique<State>(endpoint, std::move(socket))) {}
HttpConnection::~HttpConnection() = default;

bool HttpConnection::StillThere() {
  return state_->input.empty() && state_->Fill().WantsWait();
}

void HttpConnection::BeginExchange(Expected expected) {
  state_->expected = expected;
  state_->sent = state_->received = state_->stopped = false;
  state_->interim = 0;
  state_->NewParser();
}

// Looks for an answer whenever the server takes no more bytes: the answer may be that the server does not want them.
base::Result<HttpConnection::Sent> HttpConnection::Write(std::string_view bytes, Patience& patience) {
  State& state = *state_;
  while (!bytes.empty()) {
    const Progress progress = state.socket->TryWrite(bytes);
    if (progress.kind == Kind::kMoved) {
      state.sent = true;
      bytes.remove_prefix(progress.bytes);
      continue;
    }
    // A failed write is no error yet: the server may have answered before.
    if (!progress.WantsWait() || WantsNoMore()) {
      state.why = progress.why;
      state.stopped = true;
      return Sent::kStopped;
    }
    if (!state.socket->Await(progress, patience, state.HasRoom() ? POLLIN : 0))
      return patience.Fault(state.endpoint.called);
  }
  return Sent::kAll;
}

bool HttpConnection::WantsNoMore() {
  for (;;) {
    const auto whole = state_->TakeHead();
    if (!whole || (*whole && state_->Status() >= kFirstUnsuccessful)) return true;
    if (!state_->HasRoom()) return false;
    const Progress progress = state_->Fill();
    if (progress.kind != Kind::kMoved) return !progress.WantsWait();
  }
}

void HttpConnection::LeaveRequest() {
  state_->stopped = true;
}

base::Result<AnswerHead> HttpConnection::ReadHead(Patience& patience) {
  State& state = *state_;
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const bool whole, state.TakeHead());
    if (whole) break;
    if (state.ended) return state.Lost(state.received ? "in the middle of an answer" : "before it answered");
    SKERRY_RETURN_IF_ERROR(state.AwaitInput(patience));
  }
  state.parser->eager(true);
  return state.Head();
}

base::Result<std::string> HttpConnection::ReadBody(Patience& patience) {
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
    if (state.input.size() > kPiece) return state.NoHttp(http::error::bad_chunk);
    if (state.ended) {
      SKERRY_RETURN_IF_ERROR(state.EndByClose());
    } else {
      SKERRY_RETURN_IF_ERROR(state.AwaitInput(patience));
    }
  }
  return std::string();
}

HttpConnection::Released HttpConnection::Release() {
  return {.socket = std::move(state_->socket), .early = std::move(state_->input)};
}

bool HttpConnection::HasSent() const {
  return state_->sent;
}

bool HttpConnection::HasReceived() const {
  return state_->received;
}

bool HttpConnection::CanBeUsedAgain() const {
  const State& state = *state_;
  return state.parser->is_done() && state.parser->keep_alive() && !state.stopped && !state.ended && state.input.empty();
}

}  // namespace skerry::net
