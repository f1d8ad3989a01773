// A client that many threads use.
#include <atomic>
#include <semaphore>
#include <thread>

#include <gtest/gtest.h>

#include "net/client.hpp"
#include "net/test_server.hpp"

namespace skerry::net {
namespace {

using namespace std::chrono_literals;

base::Deadline Soon() {
  return base::Deadline::After(10s);
}

std::string Ask(Client& client, const std::string& target = "/") {
  auto answer = client.Send({.target = target}, Soon());
  if (!answer) return "error: " + answer.error().message;
  auto body = answer->ReadAll(1000, Soon());
  return body ? *body : "error: " + body.error().message;
}

// Every request with its target.
void Echo(TestPeer& peer) {
  for (;;) {
    const std::string head = peer.ReadHead();
    if (head.empty()) return;
    const std::string target = head.substr(4, head.find(' ', 4) - 4);
    peer.Write("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(target.size()) + "\r\n\r\n" + target);
  }
}

// `count` requests at once; then their connections wait.
void AskAtOnce(Client& client, int count) {
  std::vector<Incoming> answers;
  answers.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    auto answer = client.Send({.target = "/"}, Soon());
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    answers.push_back(std::move(*answer));
  }
  for (Incoming& answer : answers) EXPECT_EQ(answer.ReadAll(10, Soon()), "/");
}

TEST(SharedClientTest, ManyThreadsGetTheirOwnAnswers) {
  constexpr int kThreads = 8;
  constexpr int kRequests = 200;
  TestServer server = TestServer::AtOnce(Echo);
  std::atomic<int> wrong = 0;
  {
    Client client(server.endpoint(), {.max_kept = kThreads});
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int thread = 0; thread < kThreads; ++thread)
      threads.emplace_back([&, thread] {
        for (int i = 0; i < kRequests; ++i) {
          const std::string target = "/" + std::to_string(thread) + "/" + std::to_string(i);
          if (Ask(client, target) != target) ++wrong;
        }
      });
    threads.clear();
    EXPECT_LE(server.connections(), kThreads);
  }
  EXPECT_EQ(wrong, 0);
}

TEST(SharedClientTest, OneSlowAnswerHoldsUpNobody) {
  std::binary_semaphore go(0);
  TestServer server = TestServer::AtOnce([&](TestPeer& peer) {
    for (std::string head = peer.ReadHead(); !head.empty(); head = peer.ReadHead()) {
      if (head.starts_with("GET /slow")) go.acquire();
      peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    }
  });
  Client client(server.endpoint());
  const std::jthread slow([&] { EXPECT_EQ(Ask(client, "/slow"), "ok"); });
  EXPECT_EQ(Ask(client, "/quick"), "ok");
  go.release();
}

TEST(SharedClientTest, KeepsAsManyConnectionsAsItMay) {
  TestServer server = TestServer::AtOnce(Echo);
  Client client(server.endpoint(), {.max_kept = 2});
  AskAtOnce(client, 4);
  EXPECT_EQ(server.connections(), 4);
  AskAtOnce(client, 4);  // two of them on connections that were kept
  EXPECT_EQ(server.connections(), 6);
}

TEST(SharedClientTest, KeepsNoneWhereItMayNot) {
  TestServer server = TestServer::AtOnce(Echo);
  Client client(server.endpoint(), {.max_kept = 0});
  EXPECT_EQ(Ask(client), "/");
  EXPECT_EQ(Ask(client), "/");
  EXPECT_EQ(server.connections(), 2);
}

TEST(SharedClientTest, DoesNotUseAConnectionThatWaitedTooLong) {
  TestServer server = TestServer::AtOnce(Echo);
  Client client(server.endpoint(), {.kept_for = 20ms});
  EXPECT_EQ(Ask(client), "/");
  std::this_thread::sleep_for(40ms);
  EXPECT_EQ(Ask(client), "/");
  EXPECT_EQ(server.connections(), 2);
}

TEST(SharedClientTest, AnAnswerMayOutliveItsClient) {
  TestServer server = TestServer::AtOnce(Echo);
  std::optional<Incoming> answer;
  {
    Client client(server.endpoint());
    auto sent = client.Send({.target = "/late"}, Soon());
    ASSERT_TRUE(sent.has_value());
    answer.emplace(std::move(*sent));
  }
  EXPECT_EQ(answer->ReadAll(10, Soon()), "/late");
}

}  // namespace
}  // namespace skerry::net
