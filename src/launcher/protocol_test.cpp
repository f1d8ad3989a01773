#include "launcher/protocol.hpp"

#include <gtest/gtest.h>

namespace skerry::launcher {
namespace {

CommandRequest Decoded(const CommandRequest& command) {
  return std::get<CommandRequest>(DecodeToInit(Encode(ToInit{command})).value());
}

StartRequest Request() {
  StartRequest request;
  request.workspace = WorkspaceKind::kLayered;
  request.workspace_path = "/home/a/w";
  request.binds = {{"/data", "/data", os::Access::kReadOnly}, {"/cache", "/home/a/cache", os::Access::kReadWrite}};
  request.hidden = {"/workspace/.env"};
  request.memory_bytes = 64 << 20;
  request.pids = 7;
  return request;
}

TEST(ProtocolTest, AStartRequestArrivesAsItWasSent) {
  const auto decoded = DecodeToLauncher(Encode(ToLauncher{Request()}));
  ASSERT_TRUE(decoded.has_value());
  const auto& request = std::get<StartRequest>(*decoded);
  EXPECT_EQ(request.workspace, WorkspaceKind::kLayered);
  EXPECT_EQ(request.workspace_path, "/home/a/w");
  ASSERT_EQ(request.binds.size(), 2U);
  EXPECT_EQ(request.binds[1].target, "/home/a/cache");
  EXPECT_EQ(request.binds[1].access, os::Access::kReadWrite);
  EXPECT_EQ(request.hidden, std::vector<std::string>{"/workspace/.env"});
  EXPECT_EQ(request.memory_bytes, 64U << 20U);
  EXPECT_EQ(request.pids, 7U);
}

TEST(ProtocolTest, PathsThatCouldMeanSomethingElseAreRefused) {
  for (const std::string& path : {std::string("relative"), std::string(), std::string("/a\0b", 4)}) {
    StartRequest request = Request();
    request.workspace_path = path;
    EXPECT_FALSE(DecodeToLauncher(Encode(ToLauncher{request})).has_value()) << path;
  }
  for (const char* target : {"", "/", "data", "/a/../b", "/a/..", "//a", "/a/", "/./a", "/a//b"}) {
    StartRequest request = Request();
    request.binds = {{"/data", target, os::Access::kReadOnly}};
    EXPECT_FALSE(DecodeToLauncher(Encode(ToLauncher{request})).has_value()) << target;
    request = Request();
    request.hidden = {target};
    EXPECT_FALSE(DecodeToLauncher(Encode(ToLauncher{request})).has_value()) << target;
  }
}

TEST(ProtocolTest, AnEmptyWorkspaceHasNoPath) {
  StartRequest request = Request();
  request.workspace = WorkspaceKind::kEmpty;
  EXPECT_FALSE(DecodeToLauncher(Encode(ToLauncher{request})).has_value());
  request.workspace_path.clear();
  EXPECT_TRUE(DecodeToLauncher(Encode(ToLauncher{request})).has_value());
}

TEST(ProtocolTest, WithoutNamespacesThereAreNoMountsAndAScratchDirectory) {
  StartRequest request;
  request.isolation = Isolation::kNone;
  request.workspace = WorkspaceKind::kDirect;
  request.workspace_path = "/w";
  EXPECT_FALSE(DecodeToLauncher(Encode(ToLauncher{request})).has_value());
  request.scratch_path = "/scratch";
  EXPECT_TRUE(DecodeToLauncher(Encode(ToLauncher{request})).has_value());
  request.hidden = {"/etc/passwd"};
  EXPECT_FALSE(DecodeToLauncher(Encode(ToLauncher{request})).has_value());
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
  const auto started =
      DecodeFromLauncher(Encode(FromLauncher{Started{.init_pid = 9, .counters = {0, 3}, .degraded = {"a", "b"}}}));
  EXPECT_EQ(std::get<Started>(started.value()).degraded.size(), 2U);
  EXPECT_EQ(std::get<Started>(started.value()).counters, (std::vector<std::uint64_t>{0, 3}));
  const auto failed = DecodeFromLauncher(Encode(FromLauncher{Failed{base::Code::kUnavailable, "no"}}));
  EXPECT_EQ(std::get<Failed>(failed.value()).code, base::Code::kUnavailable);
  const auto ended = DecodeFromLauncher(Encode(FromLauncher{Ended{.usage = {.out_of_memory_kills = 1}}}));
  EXPECT_EQ(std::get<Ended>(ended.value()).usage.out_of_memory_kills, 1U);
  const auto usage = DecodeFromLauncher(Encode(FromLauncher{Usage{.memory_peak_bytes = 5}}));
  EXPECT_EQ(std::get<Usage>(usage.value()).memory_peak_bytes, 5U);
}

TEST(ProtocolTest, ThePlacesOfCountersArriveAsTheyWereSent) {
  Started started{.init_pid = 9};
  started.groups.memory = {os::CgroupVersion::kOne, "/cg/memory/a"};
  started.groups.cpu = {os::CgroupVersion::kTwo, "/cg/unified/a"};
  started.groups.processors = {os::CgroupVersion::kOne, "/cg/cpu/a"};
  const auto decoded = DecodeFromLauncher(Encode(FromLauncher{started}));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(std::get<Started>(*decoded).groups, started.groups);
  EXPECT_FALSE(std::get<Started>(*decoded).groups.pids.Counts());
}

TEST(ProtocolTest, APlaceOfCountersIsAnAbsolutePathOrNone) {
  for (const std::string& directory : {std::string("relative"), std::string("/a\0b", 4), std::string(5000, '/')}) {
    Started started;
    started.groups.pids.directory = directory;
    EXPECT_FALSE(DecodeFromLauncher(Encode(FromLauncher{started})).has_value()) << directory.substr(0, 20);
  }
}

TEST(ProtocolTest, ACommandWithANulOrWithoutArgumentsIsRefused) {
  CommandRequest command{.id = 1, .directory = "/workspace", .arguments = {"echo", "hi"}, .environment = {"A=b"}};
  EXPECT_TRUE(DecodeToInit(Encode(ToInit{command})).has_value());
  command.arguments = {std::string("a\0b", 3)};
  EXPECT_FALSE(DecodeToInit(Encode(ToInit{command})).has_value());
  command.arguments.clear();
  EXPECT_FALSE(DecodeToInit(Encode(ToInit{command})).has_value());
}

TEST(ProtocolTest, ATerminalHasRowsAndColumnsOrIsNone) {
  CommandRequest command;
  command.directory = "/workspace";
  command.arguments = {"true"};
  EXPECT_FALSE(Decoded(command).terminal.has_value());
  command.terminal = {24, 80};
  EXPECT_EQ(Decoded(command).terminal->columns, 80U);
  command.terminal = {24, 0};
  EXPECT_FALSE(DecodeToInit(Encode(ToInit{command})).has_value());
}

TEST(ProtocolTest, TheEndOfACommandArrivesAsItWasSent) {
  const auto ended =
      DecodeFromInit(Encode(FromInit{CommandEnded{.id = 3, .failed_step = StartStep::kDirectory, .wait_status = 256}}));
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(std::get<CommandEnded>(*ended).id, 3U);
  EXPECT_EQ(std::get<CommandEnded>(*ended).wait_status, 256U);
  EXPECT_EQ(std::get<CommandEnded>(*ended).failed_step, StartStep::kDirectory);
}

TEST(ProtocolTest, WhatConcernsTreesArrivesAsItWasSentAndNeverNamesTheFirstProcess) {
  EXPECT_EQ(std::get<TreeKill>(DecodeToInit(Encode(ToInit{TreeKill{3}})).value()).id, 3U);
  EXPECT_EQ(std::get<TreeToKill>(DecodeFromInit(Encode(FromInit{TreeToKill{9}})).value()).pid, 9U);
  EXPECT_FALSE(DecodeFromInit(Encode(FromInit{TreeToKill{1}})).has_value());
}

TEST(ProtocolTest, WhatConcernsZygotesArrivesAsItWasSent) {
  EXPECT_EQ(std::get<ForkRequest>(DecodeToLauncher(Encode(ToLauncher{ForkRequest{"python"}})).value()).zygote,
            "python");
  EXPECT_EQ(std::get<SignalRequest>(DecodeToLauncher(Encode(ToLauncher{SignalRequest{9, 2}})).value()).signal, 2U);
  EXPECT_FALSE(DecodeToLauncher(Encode(ToLauncher{SignalRequest{1, 2}})).has_value());
  EXPECT_EQ(std::get<Forked>(DecodeFromLauncher(Encode(FromLauncher{Forked{0, "no"}})).value()).why, "no");
  const auto fork_end = DecodeFromLauncher(Encode(FromLauncher{ForkEnded{7, 9, 1'500}}));
  EXPECT_EQ(std::get<ForkEnded>(fork_end.value()).wait_status, 9U);
  EXPECT_EQ(std::get<ForkEnded>(fork_end.value()).cpu_microseconds, 1'500U);
  EXPECT_EQ(std::get<CommandSignal>(DecodeToInit(Encode(ToInit{CommandSignal{3, 15}})).value()).signal, 15U);
  EXPECT_EQ(DecodeZygoteOffer(Encode(ZygoteOffer{"p", {"/usr/bin/python3", "-c"}, {"A=b"}}))->arguments.size(), 2U);
  EXPECT_FALSE(DecodeZygoteOffer(Encode(ZygoteOffer{"p", {"python3"}, {}})).has_value());
  EXPECT_FALSE(DecodeZygoteOffer(kConnect).has_value());
}

}  // namespace
}  // namespace skerry::launcher
