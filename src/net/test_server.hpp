// A server for tests that says exactly what it is told, on plain sockets.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/unique_fd.hpp"
#include "net/client.hpp"

namespace skerry::net {

// One connection, seen from the server. Everything gives up after ten seconds.
class TestPeer {
 public:
  explicit TestPeer(int fd) : fd_(fd) {}
  std::string ReadHead();  // with the empty line; "" when there is none
  std::string Read(std::size_t size);
  std::string ReadChunks();  // what they hold
  void Write(std::string_view bytes) const;
  void AwaitClose();
  // Answers one request without a body.
  void Answer(std::string_view body);
  [[nodiscard]] int fd() const { return fd_; }

 private:
  bool Fill();
  int fd_;
  std::string buffer_;
};

// Serves one connection after the other, each by the next script; afterwards it accepts nothing.
class TestServer {
 public:
  using Script = std::function<void(TestPeer&)>;
  explicit TestServer(std::vector<Script> scripts, Endpoint::Kind kind = Endpoint::Kind::kUnix);
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;
  ~TestServer();

  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }
  [[nodiscard]] int connections() const { return connections_; }

 private:
  void Serve(const std::vector<Script>& scripts);

  Endpoint endpoint_;
  std::string directory_;
  base::UniqueFd listening_;
  base::UniqueFd stop_;
  std::atomic<int> connections_ = 0;
  std::thread thread_;
};

}  // namespace skerry::net
