#include "transport/http/listening.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"
#include "transport/http/socket_address.hpp"
#include "transport/http/test_client.hpp"

namespace skerry::transport::http {
namespace {

class ListenUnixTest : public testing::Test {
 protected:
  support::TemporaryDirectory directory_;
  std::string path_ = directory_.path() / "run" / "skerry.sock";
};

TEST_F(ListenUnixTest, MakesADirectoryAndASocketForTheOwnerOnly) {
  ASSERT_TRUE(ListenUnix(path_));
  struct stat facts{};
  ::lstat(path_.c_str(), &facts);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
  ::lstat((directory_.path() / "run").c_str(), &facts);
  EXPECT_EQ(facts.st_mode & 0777U, 0700U);
}

TEST_F(ListenUnixTest, IsRefusedWhileSomebodyAnswersAndReplacesWhatIsLeft) {
  auto first = ListenUnix(path_);
  ASSERT_TRUE(first);
  const auto second = ListenUnix(path_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, base::Code::kConflict);
  EXPECT_TRUE(second.error().message.contains("already"));
  first->fd.Reset();
  EXPECT_TRUE(ListenUnix(path_));
}

TEST_F(ListenUnixTest, ReplacesNothingButASocket) {
  std::filesystem::create_directory(directory_.path() / "run");
  std::ofstream(path_) << "precious";
  EXPECT_FALSE(ListenUnix(path_));
  EXPECT_EQ(std::filesystem::file_size(path_), 8U);
  std::filesystem::remove(path_);
  std::filesystem::create_symlink(directory_.path() / "elsewhere", path_);
  EXPECT_FALSE(ListenUnix(path_));
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "elsewhere"));
}

TEST_F(ListenUnixTest, ADirectoryThatOthersMayChangeIsRefused) {
  std::filesystem::create_directory(directory_.path() / "run");
  ::chmod((directory_.path() / "run").c_str(), 0777);
  EXPECT_EQ(ListenUnix(path_).error().code, base::Code::kPermissionDenied);
}

TEST_F(ListenUnixTest, PathsMayBeLongerThanTheAddressOfASocket) {
  const std::string path = directory_.path() / std::string(120, 'd') / "skerry.sock";
  ASSERT_TRUE(ListenUnix(path));
  EXPECT_TRUE(std::filesystem::is_socket(path));
  EXPECT_FALSE(ListenUnix("relative"));
}

TEST(ParseListenTest, EverythingWithoutAHostIsLoopback) {
  for (const char* text : {":8080", "8080", "127.0.0.1:8080", "localhost:8080"}) {
    const auto address = ParseListen(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->port, 8080) << text;
    EXPECT_TRUE(address->loopback) << text;
  }
  EXPECT_EQ(ParseListen("[::1]:1")->host, "::1");
  EXPECT_TRUE(ParseListen("[::1]:1")->loopback);
}

TEST(ParseListenTest, OtherAddressesAreWrittenOut) {
  EXPECT_FALSE(ParseListen("0.0.0.0:80")->loopback);
  EXPECT_FALSE(ParseListen("[::]:80")->loopback);
  EXPECT_FALSE(ParseListen("127.0.0.1.example:80")->loopback);
  for (const char* text :
       {"", ":", "*:80", "host", "host:", "::1:80", "[::1]", "[::1]80", "[]:80", "[:80", "a:b", "a:70000", "1:-1"})
    EXPECT_FALSE(ParseListen(text)) << text;
}

TEST(ListenTcpTest, PortZeroIsAnyAndCanBeAsked) {
  const auto socket = ListenTcp(*ParseListen("0"), nullptr);
  ASSERT_TRUE(socket);
  EXPECT_EQ(socket->transport, Transport::kPlain);
  EXPECT_GT(*PortOf(*socket), 0);
  EXPECT_FALSE(ListenTcp({.host = "127.0.0.1", .port = *PortOf(*socket)}, nullptr)) << "taken";
}

TEST(TakeActivatedTest, NothingForAnotherProcess) {
  ::setenv("LISTEN_PID", "1", 1);
  ::setenv("LISTEN_FDS", "1", 1);
  EXPECT_TRUE(TakeActivated(nullptr)->empty());
  EXPECT_EQ(std::getenv("LISTEN_FDS"), nullptr);
}

// In a process of its own: the test itself already uses the descriptors that systemd passes sockets at.
TEST(TakeActivatedTest, TakesListeningSocketsAndNothingElse) {
  const auto pass = [](int fd, bool listening) {
    ::dup2(fd, 3);
    ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
    ::setenv("LISTEN_FDS", "1", 1);
    const auto sockets = TakeActivated(nullptr);
    std::_Exit(sockets.has_value() == listening && (!listening || sockets->front().transport == Transport::kPlain) ? 0
                                                                                                                   : 1);
  };
  const auto socket = ListenTcp(*ParseListen("0"), nullptr);
  EXPECT_EXIT(pass(socket->fd.get(), true), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(pass(0, false), testing::ExitedWithCode(0), "");
}

TEST(NotifySystemdTest, SendsItsStateAlsoToAnAbstractName) {
  const std::string name = "@skerry-test-notify-" + std::to_string(::getpid());
  const base::UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto address = SocketAddress::Unix(name);
  ASSERT_EQ(::bind(fd.get(), address->get(), address->size()), 0);
  ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
  NotifySystemd("READY=1");
  ::unsetenv("NOTIFY_SOCKET");
  std::string text(64, '\0');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::recv(fd.get(), text.data(), text.size(), MSG_DONTWAIT))));
  EXPECT_EQ(text, "READY=1");
}

}  // namespace
}  // namespace skerry::transport::http
