#include "launcher/protocol.hpp"

#include <gtest/gtest.h>

namespace skerry::launcher {
namespace {

StartRequest Request() {
  StartRequest request;
  request.name = "skerry-abc123";
  request.workspace_path = "/home/a/w";
  request.memory_bytes = 64 << 20;
  request.pids = 7;
  return request;
}

TEST(ProtocolTest, AStartRequestArrivesAsItWasSent) {
  const auto decoded = DecodeToLauncher(Encode(ToLauncher{Request()}));
  ASSERT_TRUE(decoded.has_value());
  const auto& request = std::get<StartRequest>(*decoded);
  EXPECT_EQ(request.name, "skerry-abc123");
  EXPECT_EQ(request.workspace_path, "/home/a/w");
  EXPECT_EQ(request.memory_bytes, 64U << 20U);
  EXPECT_EQ(request.pids, 7U);
}

TEST(ProtocolTest, NamesAndPathsThatCouldMeanSomethingElseAreRefused) {
  for (const char* name : {"", "..", "a/b", "A", "x y", "a_b"}) {
    StartRequest request = Request();
    request.name = name;
    EXPECT_FALSE(DecodeToLauncher(Encode(ToLauncher{request})).has_value()) << name;
  }
  for (const std::string& path : {std::string("relative"), std::string(), std::string("/a\0b", 4)}) {
    StartRequest request = Request();
    request.workspace_path = path;
    EXPECT_FALSE(DecodeToLauncher(Encode(ToLauncher{request})).has_value()) << path;
  }
}

TEST(ProtocolTest, WithoutNamespacesAScratchDirectoryIsNeeded) {
  StartRequest request = Request();
  request.isolation = Isolation::kNone;
  EXPECT_FALSE(DecodeToLauncher(Encode(ToLauncher{request})).has_value());
  request.scratch_path = "/scratch";
  EXPECT_TRUE(DecodeToLauncher(Encode(ToLauncher{request})).has_value());
}

TEST(ProtocolTest, LimitsBeyondReasonAreRefused) {
  StartRequest request = Request();
  request.memory_bytes = ~0ULL;
  EXPECT_FALSE(DecodeToLauncher(Encode(ToLauncher{request})).has_value());
}

TEST(ProtocolTest, EveryCutAndEveryExtraByteIsRefused) {
  const std::string bytes = Encode(ToLauncher{Request()});
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(DecodeToLauncher(std::string_view(bytes).substr(0, size)).has_value()) << size;
  EXPECT_FALSE(DecodeToLauncher(bytes + "x").has_value());
}

TEST(ProtocolTest, AnswersArriveAsTheyWereSent) {
  const auto started = DecodeFromLauncher(Encode(FromLauncher{Started{.init_pid = 9, .degraded = {"a", "b"}}}));
  EXPECT_EQ(std::get<Started>(started.value()).degraded.size(), 2U);
  const auto failed = DecodeFromLauncher(Encode(FromLauncher{Failed{base::Code::kUnavailable, "no"}}));
  EXPECT_EQ(std::get<Failed>(failed.value()).code, base::Code::kUnavailable);
  const auto ended = DecodeFromLauncher(Encode(FromLauncher{Ended{.usage = {.out_of_memory_kills = 1}}}));
  EXPECT_EQ(std::get<Ended>(ended.value()).usage.out_of_memory_kills, 1U);
  const auto usage = DecodeFromLauncher(Encode(FromLauncher{Usage{.memory_peak_bytes = 5}}));
  EXPECT_EQ(std::get<Usage>(usage.value()).memory_peak_bytes, 5U);
}

TEST(ProtocolTest, ACommandWithANulOrWithoutArgumentsIsRefused) {
  CommandRequest command{.id = 1, .directory = "/workspace", .arguments = {"echo", "hi"}, .environment = {"A=b"}};
  EXPECT_TRUE(DecodeCommandRequest(Encode(command)).has_value());
  command.arguments = {std::string("a\0b", 3)};
  EXPECT_FALSE(DecodeCommandRequest(Encode(command)).has_value());
  command.arguments.clear();
  EXPECT_FALSE(DecodeCommandRequest(Encode(command)).has_value());
}

TEST(ProtocolTest, TheEndOfACommandArrivesAsItWasSent) {
  const auto ended = DecodeCommandEnded(Encode(CommandEnded{.id = 3, .wait_status = 256}));
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->id, 3U);
  EXPECT_EQ(ended->wait_status, 256U);
}

}  // namespace
}  // namespace skerry::launcher
