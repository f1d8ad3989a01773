// Passage: one request that passes a tunnel, and its answer.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "transport/http/answer_text.hpp"
#include "transport/http/far_end.hpp"
#include "transport/http/forwarding.hpp"
#include "transport/http/tunnel.hpp"

namespace skerry::transport::http {

// Two coroutines: Up, from the client to the program (tunnel_request.cpp), and Down, back (tunnel_answer.cpp). Down
// decides: when it has ended, Up is ended.
class Passage {
 public:
  Passage(TunnelCall& call, std::unique_ptr<FarEnd> program);
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;
  ~Passage() = default;

  asio::awaitable<TunnelEnd> Run();

 private:
  static constexpr std::size_t kPiece = std::size_t{64} << 10U;
  static constexpr std::size_t kPieceCost = 512;  // of a chunk: what it costs besides its bytes

  [[nodiscard]] const Framing& framing() const { return call_.exchange.framing; }
  [[nodiscard]] const Limits& limits() const { return call_.service.options.limits; }

  // Ends the passage: both coroutines return from their waits and see `ended_`.
  void Stop();
  void Tick(TimePoint now);
  // Waits until the bytes that the tenant moves are within the tenant's share: pieces in both directions, and those of
  // the tenant's other connections.
  asio::awaitable<void> Pace(std::size_t bytes, Event& pause);
  // After the protocol was changed: a tunnel on which nothing moves for long ends, sooner when the client has closed
  // its side.
  void StayAwake() { silence_.Within(client_is_done_ ? limits().idle_time : limits().tunnel_silence); }

  asio::awaitable<void> Up();
  asio::awaitable<void> SendBody();
  asio::awaitable<void> SendOn();
  asio::awaitable<bool> FromClient(std::size_t most);
  asio::awaitable<bool> ToProgram(std::string_view bytes);
  // Refuses the request for a fault of the client.
  void Refuse(Refusal refusal);

  asio::awaitable<void> Down();
  asio::awaitable<bool> FindAnswer();
  asio::awaitable<std::optional<ProgramAnswer>> ReadHead();
  asio::awaitable<void> Relay();
  asio::awaitable<void> RelayBody(const AnswerFraming& framed, Coding coding);
  asio::awaitable<void> Switch();
  asio::awaitable<bool> Announce(const AnswerHead& head);
  [[nodiscard]] AnswerHead HeadOf(const Headers& headers) const;
  [[nodiscard]] Coding CodingFor(const AnswerFraming& framed) const;
  asio::awaitable<bool> ToClient(std::string_view bytes);
  // How much came; 0 at the end. Nothing: the answer was cut off.
  asio::awaitable<std::optional<std::size_t>> FromProgram(std::size_t most);

  TunnelCall& call_;
  std::unique_ptr<FarEnd> program_;
  ReadBuffer from_program_;
  ProgramAnswer answer_;  // the head of the answer, once it has come
  Event up_over_told_;
  Event switched_told_;
  Event up_pause_;
  Event down_pause_;
  TimeLimit client_up_;     // for the client to send
  TimeLimit client_down_;   // for the client to read
  TimeLimit program_up_;    // for the program to read
  TimeLimit program_down_;  // for the program to send
  TimeLimit silence_;       // of both ends, after the protocol was changed
  TimePoint next_client_look_;
  TimePoint next_token_look_;
  TunnelEnd end_;
  std::optional<Refusal> refusal_;  // of the client's body
  bool body_is_read_;               // the client's whole body
  bool answers_ = false;            // the head of the program's answer is there
  bool client_is_done_ = false;
  bool switched_ = false;
  bool endless_ = false;   // the answer has no end of its own
  bool in_doubt_ = false;  // the client's connection cannot be used for another request
  bool is_late_ = false;   // the program was too slow
  bool up_over_ = false;
  bool ended_ = false;
};

}  // namespace skerry::transport::http
