// Connection: the requests of one client, one after the other.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "transport/http/answer_text.hpp"
#include "transport/http/channel.hpp"
#include "transport/http/client_of.hpp"
#include "transport/http/entrance.hpp"
#include "transport/http/loop.hpp"
#include "transport/http/read_buffer.hpp"
#include "transport/http/service.hpp"

namespace skerry::transport::http {

// Lives on the socket thread, and until Serve has returned.
class Connection {
 public:
  Connection(Service& service, Channel channel, Client client, Places::Id place);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() = default;

  asio::awaitable<void> Serve();
  // Serve returns as soon as the handler has.
  void Abort();
  // The server ends: no further request is read, and an answer without an end of its own is ended.
  void Drain();
  // Called every now and then: looks at deadlines, and whether the client is still there.
  void Tick(TimePoint now);

 private:
  enum class Phase { kIdle, kHead, kBusy };
  enum class Watched { kNothing, kHandler, kStream };
  struct Sent {
    std::uint64_t bytes = 0;
    bool keep_alive = false;
    std::optional<int> status;  // when it is not that of the response
  };

  asio::awaitable<bool> ServeOne();
  asio::awaitable<void> Meet(Exchange& exchange, std::optional<Refusal>& refusal);
  asio::awaitable<void> Mistrust(Exchange& exchange, std::optional<Refusal>& refusal);
  asio::awaitable<void> Pace(double cost);
  asio::awaitable<void> Pause(std::chrono::milliseconds time);
  asio::awaitable<bool> MayShakeHands();
  asio::awaitable<std::optional<std::size_t>> ReadHead(std::optional<Refusal>& refusal);
  asio::awaitable<bool> ReadBody(Exchange& exchange, std::optional<Refusal>& refusal);
  asio::awaitable<bool> CollectBody(Exchange& exchange, std::optional<Refusal>& refusal);
  asio::awaitable<std::optional<Refusal>> Handle(Exchange& exchange, Response& response);
  asio::awaitable<bool> RunOnWorker(Exchange& exchange, Response& response);

  asio::awaitable<Sent> Send(Exchange& exchange, Response response);
  asio::awaitable<Sent> SendText(Exchange& exchange, Response response);
  asio::awaitable<Sent> SendFile(Exchange& exchange, Response response);
  asio::awaitable<Sent> SendStream(Exchange& exchange, Response response);
  asio::awaitable<bool> Pump(Stream& stream, Coding coding, Event& wake, Sent& sent);
  asio::awaitable<Sent> SendConversation(Exchange& exchange, Response response);
  asio::awaitable<Sent> SendTunnel(Exchange& exchange, Response response);
  asio::awaitable<bool> WriteAll(std::string_view bytes);
  asio::awaitable<void> Leave();

  // Takes a thread for a caller. No tenant gets all threads; some are left for the owner.
  [[nodiscard]] std::optional<Refusal> TakeThread(const Caller& caller);
  void GiveThreadBack(const Caller& caller);
  Response Refuse(const Exchange& exchange, const Refusal& refusal);
  [[nodiscard]] bool StaysOpen(const Exchange& exchange) const;
  [[nodiscard]] bool CanUpgrade(const Exchange& exchange) const;
  void Log(const Exchange& exchange, int status, std::uint64_t bytes) const;
  void LookAt(Watched what);
  // From now on the server checks whether the caller may still listen; with nullptr it stops checking.
  void Follow(const Exchange* exchange, std::function<void()> on_revoked);
  void LookAtToken(TimePoint now);

  Service& service_;
  Channel channel_;
  Client client_;
  Places::Id place_;
  bool is_known_ = false;  // the client has shown a valid token
  std::string payer_;      // whose share of the socket thread the connection uses; "" for the owner
  asio::steady_timer pause_;
  ReadBuffer in_;
  TimeLimit limit_;
  std::stop_source gone_;
  std::function<void()> on_abort_;          // for a coroutine that waits for something else than the channel
  std::function<void(TimePoint)> on_tick_;  // set by a tunnel, as on_drain_
  std::function<void()> on_drain_;
  const Exchange* followed_ = nullptr;  // its answer goes on for as long as the caller may listen
  std::function<void()> on_revoked_;    // called when the caller may listen no longer
  bool revoked_ = false;
  TimePoint next_token_look_;
  Phase phase_ = Phase::kIdle;
  Watched watched_ = Watched::kNothing;
  TimePoint next_look_;
  bool first_ = true;
  bool aborted_ = false;
};

}  // namespace skerry::transport::http
