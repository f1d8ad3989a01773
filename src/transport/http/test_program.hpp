// Programs inside a sandbox, for tests of tunnels: the test gives a function that talks to each connection.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.hpp"
#include "core/byte_stream.hpp"
#include "transport/http/test_client.hpp"

namespace skerry::transport::http {

// Listens on loopback. Each connection has a thread; the destructor shuts the connections that are still open.
class TestProgram {
 public:
  using Talk = std::function<void(TestClient& connection)>;
  explicit TestProgram(Talk talk);
  TestProgram(const TestProgram&) = delete;
  TestProgram& operator=(const TestProgram&) = delete;
  ~TestProgram();

  // Reads a request and answers it with these bytes, then closes.
  static Talk Says(std::string bytes);

  [[nodiscard]] std::uint16_t port() const { return port_; }
  // How many connections are open now.
  [[nodiscard]] int open() const { return open_; }

 private:
  void Accept();

  Talk talk_;
  base::UniqueFd listener_;
  std::uint16_t port_ = 0;
  std::atomic<int> open_ = 0;
  std::mutex mutex_;
  std::list<std::shared_ptr<TestClient>> connections_;  // guarded by mutex_
  std::vector<std::thread> threads_;                    // guarded by mutex_
  std::atomic<bool> ending_ = false;
  std::thread acceptor_;
};

// A request as a program gets it.
struct ProgramRequest {
  std::string head;
  std::string body;
  bool whole = false;
  // The value of a header, as it came.
  [[nodiscard]] std::optional<std::string> Find(std::string_view name) const;
};
ProgramRequest ReadRequest(TestClient& connection);

enum class StreamKind {
  kSocket,    // gives its socket out
  kBlocking,  // does not: a thread has to wait for it
};
// Nothing when no program listens at the port.
std::unique_ptr<core::ByteStream> ConnectTo(std::uint16_t port, StreamKind kind);

}  // namespace skerry::transport::http
