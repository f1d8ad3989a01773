// Passage::Up, from the client to the program.
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "transport/http/body_decoder.hpp"
#include "transport/http/chunks.hpp"
#include "transport/http/passage.hpp"

namespace skerry::transport::http {
namespace {

// The credential headers of the dialect. Of the other dialects those that come twice, and those with a credential that
// is valid there.
std::vector<std::string> WithheldHeaders(const Service& service, const Exchange& exchange) {
  const RequestHead& head = exchange.request.head;
  const auto twice = [&head](const std::string& name) { return head.headers.Count(name) > 1; };
  std::vector<std::string> withheld = exchange.dialect->credential_headers;
  for (const Dialect& dialect : service.options.dialects) {
    if (&dialect == exchange.dialect || !dialect.credential) continue;
    std::ranges::copy_if(dialect.credential_headers, std::back_inserter(withheld), twice);
    const auto credential = dialect.credential(head);
    if (!credential || !*credential) continue;
    if (AuthenticatorOf(service.options, dialect).Authenticate(head.peer, *credential))
      std::ranges::copy(dialect.credential_headers, std::back_inserter(withheld));
  }
  return withheld;
}

}  // namespace

asio::awaitable<void> Passage::Up() {
  const RequestHead& head = call_.exchange.request.head;
  const Tunnel& tunnel = call_.tunnel;
  const std::vector<std::string> withheld = WithheldHeaders(call_.service, call_.exchange);
  const std::string target = tunnel.target.empty() ? TargetBehind(head, 0) : tunnel.target;
  const ForwardedRequest request{.head = head,
                                 .framing = framing(),
                                 .target = target,
                                 .host = tunnel.host,
                                 .more = tunnel.headers,
                                 .withheld = withheld};
  const std::string text = ComposeRequest(request);
  if (!co_await ToProgram(text)) co_return;
  if (framing().HasBody()) co_await SendBody();
  if (!framing().any_upgrade) co_return;
  co_await switched_told_.Wait();
  if (switched_ && !ended_) co_await SendOn();
}

asio::awaitable<void> Passage::SendBody() {
  BodyDecoder decoder(framing());
  std::string content;
  std::uint64_t size = 0;
  while (!decoder.done()) {
    if (call_.in.empty() && !co_await FromClient(decoder.WorthReading(kPiece))) {
      if (!ended_) call_.abort();
      co_return;
    }
    std::size_t pieces = 0;
    const auto taken = decoder.Take(call_.in, content, pieces);
    body_is_read_ = decoder.done();
    size += content.size();
    if (!taken || size > call_.exchange.max_body) {
      Refuse(RefusalOf(taken ? base::Error{base::Code::kTooLarge, "the body is too large"} : taken.error()));
      co_return;
    }
    std::string chunk = framing().chunked && !content.empty() ? ChunkOf(content) : std::move(content);
    if (framing().chunked && decoder.done()) chunk += kLastChunk;
    content.clear();
    if (!co_await ToProgram(chunk)) co_return;
    co_await Pace(chunk.size() + pieces * kPieceCost, up_pause_);
  }
}

// Passes bytes on after the protocol was changed.
asio::awaitable<void> Passage::SendOn() {
  for (;;) {
    const std::size_t size = call_.in.view().size();
    if (!co_await ToProgram(call_.in.view())) co_return;
    call_.in.Consume(size);
    StayAwake();
    if (size > 0) co_await Pace(size, up_pause_);
    if (ended_) co_return;
    const std::size_t got = co_await call_.channel.Read(call_.in.Prepare(kPiece));
    if (ended_) co_return;
    if (got == 0) break;
    call_.in.Commit(got);
  }
  client_is_done_ = true;
  StayAwake();
  program_->CloseWrite();
}

asio::awaitable<bool> Passage::FromClient(std::size_t most) {
  if (ended_) co_return false;
  client_up_.Within(limits().body_time);
  const std::size_t got = co_await call_.channel.Read(call_.in.Prepare(most));
  client_up_.Off();
  call_.in.Commit(got);
  co_return got > 0 && !ended_;
}

asio::awaitable<bool> Passage::ToProgram(std::string_view bytes) {
  if (bytes.empty() || ended_) co_return !ended_;
  program_up_.Within(limits().tunnel_silence);
  const bool taken = co_await program_->Write(bytes);
  program_up_.Off();
  co_return taken && !ended_;
}

void Passage::Refuse(Refusal refusal) {
  if (answers_) return call_.abort();
  refusal_ = std::move(refusal);
  program_->Close();
}

}  // namespace skerry::transport::http
