#include "os/socket.hpp"

#include <unistd.h>

#include <array>

#include <gtest/gtest.h>

#include "os/pipe.hpp"

namespace skerry::os {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

TEST(SocketTest, KeepsMessageBorders) {
  auto pair = SocketPair::Create().value();
  ASSERT_TRUE(SendMessage(pair.first.get(), "one").has_value());
  ASSERT_TRUE(SendMessage(pair.first.get(), "two").has_value());
  EXPECT_EQ(ReceiveMessage(pair.second.get(), base::Deadline::After(1s)).value().bytes, "one");
  EXPECT_EQ(ReceiveMessage(pair.second.get(), base::Deadline::After(1s)).value().bytes, "two");
}

TEST(SocketTest, CarriesDescriptors) {
  auto pair = SocketPair::Create().value();
  const auto pipe = Pipe::Create().value();
  const std::array fds = {pipe.write_end.get()};
  ASSERT_TRUE(SendMessage(pair.first.get(), "x", fds).has_value());
  const auto message = ReceiveMessage(pair.second.get(), base::Deadline::After(1s)).value();
  ASSERT_EQ(message.fds.size(), 1U);
  ASSERT_EQ(::write(message.fds[0].get(), "!", 1), 1);
  char byte = 0;
  EXPECT_EQ(::read(pipe.read_end.get(), &byte, 1), 1);
  EXPECT_EQ(byte, '!');
}

TEST(SocketTest, TheEndOfTheOtherSideIsAnEmptyMessage) {
  auto pair = SocketPair::Create().value();
  pair.first.Reset();
  EXPECT_TRUE(ReceiveMessage(pair.second.get(), base::Deadline::After(1s)).value().EndOfStream());
}

TEST(SocketTest, TheLastWordsOfAPeerThatLeftThingsUnreadAreStillHeard) {
  auto pair = SocketPair::Create().value();
  ASSERT_TRUE(SendMessage(pair.second.get(), "unread").has_value());
  ASSERT_TRUE(SendMessage(pair.first.get(), "last words").has_value());
  pair.first.Reset();
  EXPECT_EQ(ReceiveMessage(pair.second.get(), base::Deadline::After(1s)).value().bytes, "last words");
  EXPECT_TRUE(ReceiveMessage(pair.second.get(), base::Deadline::After(1s)).value().EndOfStream());
}

TEST(SocketTest, WaitsNoLongerThanTheDeadline) {
  auto pair = SocketPair::Create().value();
  const auto message = ReceiveMessage(pair.second.get(), base::Deadline::After(10ms));
  ASSERT_FALSE(message.has_value());
  EXPECT_EQ(message.error().code, base::Code::kTimeout);
}

TEST(SocketTest, RefusesEmptyAndOversizedMessages) {
  auto pair = SocketPair::Create().value();
  EXPECT_FALSE(SendMessage(pair.first.get(), "").has_value());
  EXPECT_FALSE(SendMessage(pair.first.get(), std::string(kMaxMessageBytes + 1, 'x')).has_value());
}

TEST(SocketTest, SendingToNobodyIsAnErrorAndNoSignal) {
  auto pair = SocketPair::Create().value();
  pair.second.Reset();
  EXPECT_FALSE(SendMessage(pair.first.get(), "x").has_value());
}

}  // namespace
}  // namespace skerry::os
