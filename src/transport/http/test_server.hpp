// A server for tests, with routes that show what a server does with a request.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"
#include "transport/http/listening.hpp"
#include "transport/http/server.hpp"
#include "transport/http/test_client.hpp"

namespace skerry::transport::http {

// The test's end of a stream or conversation.
struct Tap {
  std::mutex mutex;
  std::string waiting;  // guarded by mutex
  bool ended = false;   // guarded by mutex
  std::function<void()> wake;
  std::chrono::milliseconds before_begun{0};  // how long a stream or a conversation takes to begin
  std::atomic<bool> begun = false;
  std::atomic<bool> destroyed = false;
  std::atomic<std::uint64_t> pulled = 0;
  std::atomic<bool> has_room = true;     // of a conversation
  std::atomic<int> received = 0;         // of a conversation
  std::atomic<bool> closed = false;      // of a conversation
  std::atomic<bool> told_gone = false;   // a handler saw that its client has left
  std::atomic<bool> may_return = false;  // the waiting handlers may return
  std::atomic<int> inside = 0;           // handlers that wait for may_return
  std::atomic<bool> revoked = false;     // every token is revoked

  void Say(const std::string& text);
  void End();
};

bool Eventually(const std::function<bool()>& condition);

// The head of a request with a Host.
std::string Get(std::string_view target, std::string_view more = "");
std::string Post(std::string_view target, std::string_view body, std::string_view more = "");

class ServerTest : public testing::Test {
 protected:
  ServerTest();
  ~ServerTest() override;
  // Serves. The test changes `options` before.
  void Start();
  TestClient Unix() { return TestClient::Unix(socket_path); }
  TestClient Tcp() { return TestClient::Tcp(port); }
  std::vector<AccessRecord> Records();

  support::TemporaryDirectory directory;
  std::string socket_path = directory.path() / "run" / "skerry.sock";
  std::shared_ptr<Tap> tap = std::make_shared<Tap>();
  ServerOptions options;
  base::WorkerPool workers;
  std::uint16_t port = 0;
  std::shared_ptr<const TlsFiles> tls;
  std::unique_ptr<Server> server;

 private:
  std::mutex mutex_;
  std::vector<AccessRecord> records_;
};

}  // namespace skerry::transport::http
