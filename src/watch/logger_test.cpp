#include "watch/logger.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <csignal>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/utf8.hpp"
#include "os/files.hpp"
#include "os/pipe.hpp"

namespace skerry::watch {
namespace {

constexpr std::string_view kAt = "2026-11-16T11:37:52.123Z";
constexpr std::size_t kPlenty = 1U << 24U;
const std::string kHostile = "a\nb\r\x1b[2J\x7f\xc2\x9b\xe2\x80\xa8\xe2\x80\xae\"\\\xff c";

std::string Text(std::string_view message, const LogFields& fields = {}) {
  return LogLine(LogFormat::kText, LogLevel::kInfo, message, fields, kAt);
}

std::string Json(std::string_view message, const LogFields& fields = {}) {
  return LogLine(LogFormat::kJson, LogLevel::kInfo, message, fields, kAt);
}

// The content of the pipe after all writers have stopped.
std::string Rest(os::Pipe& pipe) {
  pipe.write_end.Reset();
  return os::ReadAll(pipe.read_end.get(), kPlenty).value_or("unreadable");
}

TEST(LogLevelTest, ItsNameIsReadBack) {
  for (const LogLevel level :
       {LogLevel::kError, LogLevel::kWarning, LogLevel::kNotice, LogLevel::kInfo, LogLevel::kDebug})
    EXPECT_EQ(ParseLogLevel(NameOf(level)), level) << NameOf(level);
  EXPECT_EQ(NameOf(LogLevel::kWarning), "warning");
  EXPECT_EQ(ParseLogLevel("Warning"), std::nullopt);
  EXPECT_EQ(ParseLogLevel(""), std::nullopt);
}

TEST(LogTextTest, IsForPeople) {
  EXPECT_EQ(Text("run ended", {{"session", "ses_1"}, {"exit", "0"}}), "skerry: run ended session=ses_1 exit=0\n");
}

TEST(LogTextTest, WhatCouldBeMistakenIsQuoted) {
  EXPECT_EQ(Text("m", {{"a", "two words"}, {"b", ""}, {"c", "x=y"}, {"d", "\"\\"}}),
            "skerry: m a=\"two words\" b=\"\" c=\"x=y\" d=\"\\\"\\\\\"\n");
}

TEST(LogTextTest, StaysOneLineWhateverIsInIt) {
  EXPECT_EQ(Text("a\nskerry: forged", {{"n\nx", "\x1b[2J"}}), "skerry: a\\u000askerry: forged n\\u000ax=\\u001b[2J\n");
}

TEST(LogJsonTest, HasTimeLevelMessageAndFieldsInThisOrder) {
  EXPECT_EQ(Json("run ended", {{"session", "ses_1"}, {"exit", "0"}}),
            "{\"at\":\"2026-11-16T11:37:52.123Z\",\"level\":\"info\",\"message\":\"run ended\",\"session\":\"ses_1\","
            "\"exit\":\"0\"}\n");
}

TEST(LogJsonTest, ReadsBackAsItWas) {
  const auto line = nlohmann::json::parse(Json(kHostile, {{"n\n\"", kHostile}}));
  EXPECT_EQ(line["message"], base::ToValidUtf8(kHostile));
  EXPECT_EQ(line["n\n\""], base::ToValidUtf8(kHostile));
}

TEST(LogJsonTest, ShowsControlCharacters) {
  const std::string line = Json(kHostile, {{kHostile, kHostile}});
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  for (const std::string_view hostile : {"\x1b", "\r", "\x7f", "\xc2\x9b", "\xe2\x80\xa8", "\xe2\x80\xae"})
    EXPECT_FALSE(line.contains(hostile));
  EXPECT_TRUE(base::IsValidUtf8(line));
}

TEST(LogJsonTest, AFieldReplacesNoOther) {
  const auto line = nlohmann::json::parse(Json("true", {{"message", "forged"}, {"x", "1"}, {"x", "2"}}));
  EXPECT_EQ(line["message"], "true");
  EXPECT_EQ(line["message_"], "forged");
  EXPECT_EQ(line["x"], "1");
  EXPECT_EQ(line["x_"], "2");
}

TEST(LoggerTest, WritesWhatIsGraveEnough) {
  auto pipe = *os::Pipe::Create();
  const Logger logger({.level = LogLevel::kWarning, .format = LogFormat::kText, .fd = pipe.write_end.get()});
  logger.Write(LogLevel::kError, "error");
  logger.Write(LogLevel::kWarning, "grave");
  logger.Write(LogLevel::kNotice, "notice");
  EXPECT_EQ(Rest(pipe), "skerry: error\nskerry: warning: grave\n");
}

TEST(LoggerTest, AJsonLineHasTheTimeOfNow) {
  auto pipe = *os::Pipe::Create();
  Logger({.format = LogFormat::kJson, .fd = pipe.write_end.get()}).Write(LogLevel::kError, "m");
  const auto line = nlohmann::json::parse(Rest(pipe));
  const std::string at = line["at"];
  EXPECT_EQ(at.size(), kAt.size());
  EXPECT_GT(at, "2026");
  EXPECT_EQ(line["level"], "error");
}

// A socket that keeps messages apart shows whether there was one write.
TEST(LoggerTest, ALineIsOneWrite) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  const base::UniqueFd reader(ends[0]);
  const base::UniqueFd writer(ends[1]);
  const Logger logger({.fd = writer.get()});
  logger.Write(LogLevel::kError, "first", {{"a", "1"}});
  logger.Write(LogLevel::kError, "second");
  std::string message(100, '\0');
  message.resize(static_cast<std::size_t>(::read(reader.get(), message.data(), message.size())));
  EXPECT_EQ(message, "skerry: first a=1\n");
}

TEST(LoggerTest, LinesThatThePipeTakesInPartsStayWhole) {
  constexpr int kThreads = 3;
  constexpr int kLines = 4;
  constexpr std::size_t kLength = 100'000;  // more than a pipe holds
  auto pipe = *os::Pipe::Create();
  const Logger logger({.fd = pipe.write_end.get()});
  std::string all;
  std::jthread reader([&] { all = os::ReadAll(pipe.read_end.get(), kPlenty).value_or(""); });
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < kThreads; ++i)
      writers.emplace_back([&, i] {
        for (int line = 0; line < kLines; ++line)
          logger.Write(LogLevel::kError, std::string(kLength, static_cast<char>('a' + i)));
      });
  }
  pipe.write_end.Reset();
  reader.join();
  std::multiset<std::string> expected;
  for (int i = 0; i < kThreads * kLines; ++i)
    expected.insert("skerry: " + std::string(kLength, static_cast<char>('a' + i % kThreads)));
  std::multiset<std::string> lines;
  for (std::size_t begin = 0, end = 0; (end = all.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.insert(all.substr(begin, end - begin));
  EXPECT_TRUE(lines == expected);
}

TEST(LoggerTest, APipeWhoseReaderIsGoneEndsNothing) {
  auto pipe = *os::Pipe::Create();
  pipe.read_end.Reset();
  const auto before = std::signal(SIGPIPE, SIG_DFL);
  Logger({.fd = pipe.write_end.get()}).Write(LogLevel::kError, "nobody reads");
  sigset_t pending{};
  ::sigpending(&pending);
  EXPECT_EQ(::sigismember(&pending, SIGPIPE), 0);
  std::signal(SIGPIPE, before);
}

TEST(LoggerTest, AClosedDescriptorEndsNothing) {
  auto pipe = *os::Pipe::Create();
  const int closed = pipe.write_end.get();
  pipe.write_end.Reset();
  Logger({.fd = closed}).Write(LogLevel::kError, "nowhere");
  EXPECT_EQ(Rest(pipe), "");
}

TEST(LoggerTest, AFullPipeThatDoesNotBlockLosesLinesAndGoesOn) {
  auto pipe = *os::Pipe::Create();
  ASSERT_TRUE(os::SetNonBlocking(pipe.write_end.get()));
  std::string filling(4096, 'x');
  std::size_t filled = 0;
  for (ssize_t count = 0; (count = ::write(pipe.write_end.get(), filling.data(), filling.size())) > 0;)
    filled += static_cast<std::size_t>(count);
  const Logger logger({.fd = pipe.write_end.get()});
  for (int i = 0; i < 3; ++i) logger.Write(LogLevel::kError, "lost");
  std::string read(filled, '\0');
  for (std::size_t done = 0; done < filled;) {
    const ssize_t count = ::read(pipe.read_end.get(), read.data() + done, filled - done);
    ASSERT_GT(count, 0);
    done += static_cast<std::size_t>(count);
  }
  logger.Write(LogLevel::kError, "there is room");
  EXPECT_EQ(Rest(pipe), "skerry: there is room\n");
}

}  // namespace
}  // namespace skerry::watch
