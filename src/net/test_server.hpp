// A server for tests that says exactly what it is told, on plain sockets.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"
#include "net/endpoint.hpp"

namespace skerry::net {

// One connection, seen from the server. Everything gives up after ten seconds.
class TestPeer {
 public:
  explicit TestPeer(int fd) : fd_(fd) {}
  std::string ReadHead();  // with the empty line; "" when there is none
  std::string Read(std::size_t size);
  std::string ReadSome();    // what comes next; "" at the end
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

class TestServer {
 public:
  using Script = std::function<void(TestPeer&)>;
  // Serves one connection after the other, each by the next script; afterwards it accepts nothing.
  explicit TestServer(std::vector<Script> scripts, Endpoint::Kind kind = Endpoint::Kind::kUnix);
  // Serves any number of connections at once, each by the script, in a thread of its own.
  static TestServer AtOnce(Script script, Endpoint::Kind kind = Endpoint::Kind::kUnix) {
    return TestServer(kind, std::move(script));
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;
  ~TestServer();

  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }
  [[nodiscard]] int connections() const { return connections_; }

 private:
  TestServer(Endpoint::Kind kind, Script script);
  void Listen(Endpoint::Kind kind);
  void ServeInTurn(const std::vector<Script>& scripts);
  void ServeAtOnce(const Script& script);
  base::UniqueFd Accept();  // none at the end

  Endpoint endpoint_;
  std::string directory_;
  base::UniqueFd listening_;
  base::UniqueFd stop_;
  std::atomic<int> connections_ = 0;
  std::thread thread_;
};

}  // namespace skerry::net
