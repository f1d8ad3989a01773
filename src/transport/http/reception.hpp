// Reception: takes connections from listening sockets, keeps count of them, and looks after their deadlines.
#pragma once

#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/deadline.hpp"
#include "transport/http/connection.hpp"
#include "transport/http/server.hpp"

namespace skerry::transport::http {

// Used on the socket thread, except for WaitUntilEmpty; Open and Begin are called before that thread runs.
class Reception {
 public:
  explicit Reception(Service& service);
  Reception(const Reception&) = delete;
  Reception& operator=(const Reception&) = delete;
  ~Reception() = default;

  base::Status Open(ListeningSocket socket);
  void Begin();
  // Accepts no further client; idle connections are closed, the others after their answer.
  void Drain();
  // Closes all connections; the loop has nothing left to do when the last handler has returned.
  void End();
  // Waits until there is no connection. False at the deadline.
  bool WaitUntilEmpty(base::Deadline deadline);

 private:
  struct Listener {
    asio::posix::stream_descriptor fd;
    Transport transport;
    std::shared_ptr<asio::ssl::context> tls;
    std::string host;
    std::string name;
  };
  using Connections = std::map<Places::Id, std::unique_ptr<Connection>>;

  asio::awaitable<void> Accept(Listener& listener);
  // False: no client waits any more, or `error` says why accept failed.
  bool AcceptOne(Listener& listener, int& error);
  void Welcome(base::UniqueFd fd, const Listener& listener);
  void TurnAway(int fd, Transport transport);
  void Serve(Places::Id place, std::unique_ptr<Connection> connection);
  void Remove(Places::Id place);
  asio::awaitable<void> Tick();
  void CloseListeners();

  Service& service_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  asio::steady_timer tick_;
  std::list<Listener> listeners_;
  Connections connections_;
  bool ticking_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool drained_ = false;  // guarded by mutex_
};

}  // namespace skerry::transport::http
