#include "transport/http/tunnel.hpp"

#include <exception>
#include <utility>

#include <boost/asio/co_spawn.hpp>

#include "transport/http/passage.hpp"
#include "transport/http/websocket.hpp"

namespace skerry::transport::http {
namespace {

constexpr std::chrono::milliseconds kLookAtClient{500};
constexpr std::chrono::milliseconds kLookAtToken{1000};

}  // namespace

Passage::Passage(TunnelCall& call, std::unique_ptr<FarEnd> program)
    : call_(call),
      program_(std::move(program)),
      up_over_told_(*call.service.loop),
      switched_told_(*call.service.loop),
      up_pause_(*call.service.loop),
      down_pause_(*call.service.loop),
      body_is_read_(!call.exchange.framing.HasBody()) {}

asio::awaitable<TunnelEnd> Passage::Run() {
  call_.on_abort = [this] { Stop(); };
  call_.on_tick = [this](TimePoint now) { Tick(now); };
  call_.on_drain = [this] {
    if (endless_) call_.abort();
  };
  const bool waits = framing().expects_continue && call_.in.empty();
  if (!waits || co_await ToClient("HTTP/1.1 100 Continue\r\n\r\n")) {
    auto up = Up();
    auto over = [this](const std::exception_ptr&) {
      up_over_ = true;
      up_over_told_.Notify();
    };
    asio::co_spawn(*call_.service.loop, std::move(up), std::move(over));
    // An exception comes from a library, and Up still uses this object.
    bool failed = false;
    try {
      co_await Down();
    } catch (const std::exception&) {
      failed = true;
    }
    if (failed) call_.abort();
    Stop();
    if (!up_over_) call_.channel.StopReading();
    while (!up_over_) co_await up_over_told_.Wait();
  }
  call_.on_abort = nullptr;
  call_.on_tick = nullptr;
  call_.on_drain = nullptr;
  end_.keep_alive = end_.keep_alive && body_is_read_ && !in_doubt_;
  co_return std::move(end_);
}

void Passage::Stop() {
  ended_ = true;
  program_->Close();
  switched_told_.Notify();
  up_pause_.Notify();
  down_pause_.Notify();
}

void Passage::Tick(TimePoint now) {
  if (ended_) return;
  if (program_up_.Passed(now) || program_down_.Passed(now)) {
    is_late_ = true;
    return program_->Close();
  }
  if (client_up_.Passed(now) || client_down_.Passed(now) || silence_.Passed(now)) return call_.abort();
  if (now >= next_token_look_) {
    next_token_look_ = now + kLookAtToken;
    Authenticator& authenticator = AuthenticatorOf(call_.service.options, *call_.exchange.dialect);
    if (!authenticator.Holds(call_.exchange.request.caller)) return call_.abort();
  }
  if (switched_ || now < next_client_look_) return;
  next_client_look_ = now + kLookAtClient;
  if (call_.channel.PeerIsGone()) call_.abort();
}

asio::awaitable<void> Passage::Pace(std::size_t bytes, Event& pause) {
  if (call_.payer.empty() || ended_) co_return;
  const auto wait = call_.service.flow.Charge(call_.payer, static_cast<double>(bytes) + kMessageCost,
                                              std::chrono::steady_clock::now());
  if (wait.count() > 0) co_await pause.WaitFor(wait);
}

asio::awaitable<TunnelEnd> Pass(TunnelCall& call) {
  TunnelEnd failed;
  if (call.tunnel.stream == nullptr || (!call.tunnel.target.empty() && !IsForwardable(call.tunnel.target))) {
    failed.refusal = RefusalOf({base::Code::kInternal, "the handler made no proper tunnel"});
    co_return failed;
  }
  auto program = MakeFarEnd(std::move(call.tunnel.stream), call.service.loop, call.service.workers,
                            call.service.options.limits.tunnel_silence);
  if (!program) {
    failed.refusal = RefusalOf(program.error());
    co_return failed;
  }
  Passage passage(call, std::move(*program));
  co_return co_await passage.Run();
}

}  // namespace skerry::transport::http
