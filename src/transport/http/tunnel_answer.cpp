// Passage::Down, from the program to the client.
#include <string>
#include <utility>

#include "transport/http/body_decoder.hpp"
#include "transport/http/chunks.hpp"
#include "transport/http/passage.hpp"
#include "transport/http/text.hpp"

namespace skerry::transport::http {
namespace {

using End = AnswerFraming::End;

constexpr std::size_t kHeadPiece = std::size_t{4} << 10U;
constexpr int kMostInformational = 8;  // answers of status 1xx before the final one
constexpr int kSwitching = 101;
constexpr int kOk = 200;
constexpr int kNoContent = 204;

Refusal BadAnswer(const std::string& why) {
  return {.status = 502,
          .code = "bad_gateway",
          .message = "what listens on this port inside the sandbox does not answer as HTTP should: " + why};
}

Refusal NoAnswer() {
  return {.status = 502,
          .code = "bad_gateway",
          .message = "what listens on this port inside the sandbox left without an answer"};
}

Refusal LateAnswer() {
  return {.status = 504,
          .code = "timeout",
          .message = "what listens on this port inside the sandbox did not answer in time"};
}

bool IsEvents(const Headers& headers) {
  return Lower(headers.Find("Content-Type").value_or("")).starts_with("text/event-stream");
}

bool HasUnknownLength(const AnswerFraming& framed) {
  return framed.end == End::kChunks || framed.end == End::kClose;
}

}  // namespace

asio::awaitable<void> Passage::Down() {
  if (!co_await FindAnswer()) co_return;
  answers_ = true;
  if (answer_.status == kSwitching)
    co_await Switch();
  else
    co_await Relay();
}

// False: there is a refusal. Informational answers (1xx) are skipped.
asio::awaitable<bool> Passage::FindAnswer() {
  for (int informational = 0; informational <= kMostInformational; ++informational) {
    auto answer = co_await ReadHead();
    program_down_.Off();
    if (!answer) co_return false;
    answer_ = std::move(*answer);
    if (answer_.status >= kOk || answer_.status == kSwitching) co_return true;
  }
  end_.refusal = BadAnswer("it says nothing but that it is going to answer");
  co_return false;
}

// The time for a head runs from its first byte to its last, as that of a client's head does.
asio::awaitable<std::optional<ProgramAnswer>> Passage::ReadHead() {
  HeadScanner scanner(limits().header_bytes);
  program_down_.Within(from_program_.empty() ? limits().tunnel_silence : limits().header_time);
  for (;;) {
    const auto found = scanner.Scan(from_program_.view());
    if (!found) {
      end_.refusal = BadAnswer(found.error().message);
      co_return std::nullopt;
    }
    if (*found) {
      auto answer = ParseAnswer(from_program_.view().substr(0, **found));
      from_program_.Consume(**found);
      if (answer) co_return std::move(*answer);
      end_.refusal = BadAnswer(answer.error());
      co_return std::nullopt;
    }
    const bool first = from_program_.empty();
    const auto got = co_await program_->Read(from_program_.Prepare(kHeadPiece));
    if (!got || *got == 0) {
      end_.refusal = refusal_   ? *refusal_
                     : is_late_ ? LateAnswer()
                     : first    ? NoAnswer()
                                : BadAnswer("it ends in the middle of its head");
      co_return std::nullopt;
    }
    from_program_.Commit(*got);
    if (first) program_down_.Within(limits().header_time);
  }
}

asio::awaitable<void> Passage::Relay() {
  const auto framed = FramingOf(answer_, call_.exchange.request.head.method);
  if (!framed) {
    end_.refusal = BadAnswer(framed.error());
    co_return;
  }
  Headers headers = HeadersForClient(answer_);
  endless_ = IsEvents(headers) && HasUnknownLength(*framed);
  if (endless_ && call_.service.draining) co_return call_.abort();
  if (endless_) headers.Set("X-Accel-Buffering", "no");
  // Bytes that the client sent behind a request for another protocol may belong to that protocol.
  in_doubt_ = framing().any_upgrade && !call_.in.empty();
  AnswerHead head = HeadOf(headers);
  head.coding = CodingFor(*framed);
  head.length = framed->length;
  head.keep_alive = framing().keep_alive && body_is_read_ && !in_doubt_ && !call_.service.draining &&
                    head.coding != Coding::kUntilClose;
  end_.keep_alive = head.keep_alive;
  if (!co_await Announce(head)) co_return;
  co_await RelayBody(*framed, head.coding);
}

asio::awaitable<void> Passage::RelayBody(const AnswerFraming& framed, Coding coding) {
  BodyDecoder decoder(framed);
  std::string content;
  bool over = framed.end == End::kNoBody;
  while (!over && !decoder.done()) {
    if (from_program_.empty()) {
      const auto got = co_await FromProgram(decoder.WorthReading(kPiece));
      over = got && *got == 0 && framed.end == End::kClose;
      // The client has been told where the body ends, and must not take a part for the whole.
      if (!over && got.value_or(0) == 0) co_return call_.abort();
    }
    std::size_t pieces = 0;
    if (!decoder.Take(from_program_, content, pieces)) co_return call_.abort();
    end_.bytes += content.size();
    const std::string frame = coding == Coding::kChunked && !content.empty() ? ChunkOf(content) : content;
    if (!co_await ToClient(frame)) co_return;
    if (!content.empty()) co_await Pace(content.size() + pieces * kPieceCost, down_pause_);
    content.clear();
    if (ended_) co_return;
  }
  // Bytes behind the answer are dropped, and a program that sends them is not trusted to have ended its answer
  // properly.
  if (!from_program_.empty()) in_doubt_ = true;
  if (coding == Coding::kChunked) co_await ToClient(kLastChunk);
}

asio::awaitable<void> Passage::Switch() {
  const std::string protocol =
      framing().any_upgrade ? UpgradeOf(answer_, call_.exchange.request.head.headers) : std::string();
  if (protocol.empty()) {
    end_.refusal = BadAnswer("it changes to a protocol that nobody asked for");
    co_return;
  }
  if (call_.service.draining) co_return call_.abort();
  const Headers headers = HeadersForClient(answer_);
  AnswerHead head = HeadOf(headers);
  head.coding = Coding::kNoBody;
  head.upgrade = protocol;
  if (!co_await Announce(head)) co_return;
  switched_ = true;
  endless_ = true;
  switched_told_.Notify();
  for (;;) {
    const std::size_t size = from_program_.view().size();
    if (!co_await ToClient(from_program_.view())) co_return;
    from_program_.Consume(size);
    end_.bytes += size;
    StayAwake();
    if (size > 0) co_await Pace(size, down_pause_);
    if (ended_) co_return;
    const auto got = co_await FromProgram(kPiece);
    if (got.value_or(0) == 0) co_return;
  }
}

asio::awaitable<bool> Passage::Announce(const AnswerHead& head) {
  const std::string text = Compose(head);
  end_.status = head.status;
  co_return co_await ToClient(text);
}

AnswerHead Passage::HeadOf(const Headers& headers) const {
  return {.status = answer_.status,
          .headers = &headers,
          .request_id = call_.exchange.request.id,
          .trace = call_.exchange.traceparent,
          .version = call_.exchange.version};
}

Coding Passage::CodingFor(const AnswerFraming& framed) const {
  if (HasUnknownLength(framed))
    return call_.exchange.version == Version::kHttp10 ? Coding::kUntilClose : Coding::kChunked;
  // An answer to HEAD, and a 304, may name the length that an answer to GET would have.
  return framed.names_length && answer_.status != kNoContent ? Coding::kLength : Coding::kNoBody;
}

asio::awaitable<bool> Passage::ToClient(std::string_view bytes) {
  while (!bytes.empty() && !ended_) {
    client_down_.Within(limits().write_time);
    const std::size_t written = co_await call_.channel.Write(bytes);
    client_down_.Off();
    if (written == 0) call_.abort();
    bytes.remove_prefix(written);
  }
  co_return !ended_;
}

asio::awaitable<std::optional<std::size_t>> Passage::FromProgram(std::size_t most) {
  if (!switched_) program_down_.Within(limits().tunnel_silence);
  const auto got = co_await program_->Read(from_program_.Prepare(most));
  program_down_.Off();
  if (!got || ended_ || is_late_) co_return std::nullopt;
  from_program_.Commit(*got);
  co_return *got;
}

}  // namespace skerry::transport::http
