#include "transport/http/server.hpp"

#include <pthread.h>
#include <signal.h>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "transport/http/mount_table.hpp"
#include "transport/http/reception.hpp"

namespace skerry::transport::http {
namespace {

// Blocks signals for the threads that are started meanwhile: they belong to the thread that waits for them.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;
  ~WithoutSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

struct Server::State {
  State(ServerOptions options, MountTable mounts, base::WorkerPool& workers)
      : service(std::move(options), std::move(mounts), workers), reception(service) {}

  Service service;
  Reception reception;
  std::thread thread;
};

base::Result<std::unique_ptr<Server>> Server::Start(std::vector<ListeningSocket> sockets, ServerOptions options,
                                                    base::WorkerPool& workers) {
  if (options.dialects.empty() || options.authenticator == nullptr)
    return base::Err(base::Code::kInvalidArgument, "a server needs a dialect and an authenticator");
  std::vector<std::string> listeners;
  for (const ListeningSocket& socket : sockets) listeners.push_back(socket.name);
  SKERRY_ASSIGN_OR_RETURN(MountTable mounts, MountTable::Make(options.dialects, listeners));
  try {
    auto state = std::make_shared<State>(std::move(options), std::move(mounts), workers);
    for (ListeningSocket& socket : sockets) SKERRY_RETURN_IF_ERROR(state->reception.Open(std::move(socket)));
    state->reception.Begin();
    const WithoutSignals quiet;
    state->thread = std::thread([&service = state->service] { service.loop->run(); });
    ::pthread_setname_np(state->thread.native_handle(), "skerry-http");
    return std::unique_ptr<Server>(new Server(std::move(state)));
  } catch (const std::exception& exception) {
    return base::Err(base::Code::kUnavailable, std::string("start the server: ") + exception.what());
  }
}

Server::Server(std::shared_ptr<State> state) : state_(std::move(state)) {}

Server::~Server() {
  asio::post(*state_->service.loop, [state = state_.get()] { state->reception.End(); });
  state_->thread.join();
}

bool Server::Drain(base::Deadline deadline) {
  asio::post(*state_->service.loop, [state = state_.get()] { state->reception.Drain(); });
  const bool drained = state_->reception.WaitUntilEmpty(deadline);
  asio::post(*state_->service.loop, [state = state_.get()] { state->reception.End(); });
  return drained;
}

Server::Statistics Server::Now() const {
  const Service& service = state_->service;
  return {.connections = service.connections,
          .requests = service.requests,
          .tunnels = service.tunnels,
          .served = service.served,
          .refused = service.refused};
}

}  // namespace skerry::transport::http
