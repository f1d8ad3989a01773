// What all connections of a server share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/flow_limiter.hpp"
#include "base/worker_pool.hpp"
#include "transport/http/entrance.hpp"
#include "transport/http/loop.hpp"
#include "transport/http/places.hpp"
#include "transport/http/server.hpp"

namespace skerry::transport::http {

// Used by the socket thread; the counters are read by other threads too.
struct Service {
  Service(ServerOptions the_options, MountTable mounts, base::WorkerPool& pool)
      : loop(std::make_shared<asio::io_context>(1)),
        options(std::move(the_options)),
        workers(pool),
        entrance(options, std::move(mounts)),
        memory(std::make_shared<base::Budget>(
            base::BudgetLimits{.each = options.limits.body_memory / 2, .all = options.limits.body_memory})),
        places(SharesOf(options.limits.connections, options.limits.connections_per_peer)),
        flow(options.limits.flow),
        strangers(options.limits.flow),
        mistakes(options.limits.mistakes),
        handshakes(options.limits.handshakes) {}

  Loop loop;
  ServerOptions options;
  base::WorkerPool& workers;
  Entrance entrance;
  bool draining = false;
  std::shared_ptr<base::Budget> memory;  // for bodies and answers
  Places places;
  base::FlowLimiter flow;        // bytes that pass the socket thread, by tenant
  base::FlowLimiter strangers;   // of clients without a token, by address: apart from those of tenants
  base::FlowLimiter mistakes;    // requests without a valid token, by address
  base::FlowLimiter handshakes;  // of TLS, by address
  std::map<std::string, std::size_t> requests_of;  // by tenant, of callers that have a rate
  std::atomic<std::size_t> connections = 0;
  std::atomic<std::size_t> requests = 0;  // whose handler runs or waits for a thread
  std::atomic<std::size_t> tunnels = 0;
  std::atomic<std::uint64_t> served = 0;
  std::atomic<std::uint64_t> refused = 0;
};

}  // namespace skerry::transport::http
