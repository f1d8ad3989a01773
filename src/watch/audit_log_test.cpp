#include "watch/audit_log.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/temporary_directory.hpp"
#include "watch/audit_chain.hpp"

namespace skerry::watch {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

std::string TextOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void SetText(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

class AuditLogTest : public testing::Test {
 protected:
  [[nodiscard]] fs::path directory() const { return home_.path() / "audit"; }
  [[nodiscard]] fs::path file(int number = 1) const {
    return directory() / AuditFileName(static_cast<std::uint64_t>(number));
  }
  [[nodiscard]] fs::path head() const { return directory() / "head"; }

  [[nodiscard]] AuditLog Open(std::uint64_t max_file_bytes = 1U << 20U) const {
    auto log = AuditLog::Open({directory().string(), max_file_bytes});
    EXPECT_TRUE(log) << log.error().message;
    if (!log) std::abort();
    return std::move(*log);
  }

  void Write(int records, std::uint64_t max_file_bytes = 1U << 20U) const {
    AuditLog log = Open(max_file_bytes);
    for (int count = 0; count < records; ++count) EXPECT_TRUE(log.Append("test.happened", {{"count", count}}));
  }

  [[nodiscard]] std::vector<Json> Records() const {
    std::vector<Json> records;
    EXPECT_TRUE(ReadAudit(directory().string(), [&](std::string_view line) {
      records.push_back(Json::parse(line, nullptr, false));
      return true;
    }));
    return records;
  }

  [[nodiscard]] AuditReport Verify() const {
    auto report = VerifyAudit(directory().string());
    EXPECT_TRUE(report) << report.error().message;
    return report.value_or(AuditReport{});
  }

  [[nodiscard]] std::vector<std::string> Faults() const {
    std::vector<std::string> whats;
    for (const AuditFault& fault : Verify().faults) whats.push_back(fault.what);
    return whats;
  }

  support::TemporaryDirectory home_;
};

using Nothing = std::vector<std::string>;

TEST_F(AuditLogTest, ARecordIsALineThatNamesTheOneBefore) {
  Write(2);
  const std::vector<Json> records = Records();
  ASSERT_EQ(records.size(), 2U);
  std::vector<std::string> names;
  for (const auto& item : records[0].items()) names.push_back(item.key());
  EXPECT_EQ(names, (std::vector<std::string>{"number", "at", "event", "count", "previous", "hash"}));
  EXPECT_EQ(records[0]["number"], 1);
  EXPECT_EQ(records[0]["previous"], kNoHash);
  EXPECT_EQ(records[1]["number"], 2);
  EXPECT_EQ(records[1]["previous"], records[0]["hash"]);
  EXPECT_EQ(records[1]["at"].get<std::string>().size(), std::string_view("2026-11-16T11:37:52.123456Z").size());
}

TEST_F(AuditLogTest, WhatSomebodyWroteIntoARecordStaysInItsLine) {
  const std::string hostile = "x\n{\"number\":2,\"event\":\"approved\"}\r\n\x1b[2J\xff\xc2\x9b\xe2\x80\xae\x7f";
  {
    AuditLog log = Open();
    ASSERT_TRUE(log.Append("test.happened", {{"code", hostile}, {hostile, 1}}));
  }
  const std::string text = TextOf(file());
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
  EXPECT_TRUE(
      std::ranges::all_of(text.substr(0, text.size() - 1), [](char byte) { return byte >= ' ' && byte <= '~'; }));
  EXPECT_EQ(Records().size(), 1U);
  EXPECT_EQ(Faults(), Nothing());
}

TEST_F(AuditLogTest, DetailsCannotTakeTheNamesOfTheCommonFields) {
  {
    AuditLog log = Open();
    ASSERT_TRUE(log.Append("test.happened", {{"number", 7}, {"previous", "p"}, {"hash", "h"}, {"event", "e"}}));
  }
  const Json record = Records().at(0);
  EXPECT_EQ(record["number"], 1);
  EXPECT_EQ(record["number_"], 7);
  EXPECT_EQ(record["event"], "test.happened");
  EXPECT_EQ(record["hash_"], "h");
  EXPECT_EQ(Faults(), Nothing());
}

TEST_F(AuditLogTest, FilesAreForTheirOwnerAlone) {
  Write(1);
  for (const fs::path& path : {directory(), file(), head()}) {
    struct stat facts{};
    ASSERT_EQ(::stat(path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 077U, 0U) << path;
  }
}

TEST_F(AuditLogTest, TheChainGoesOnWhenItIsOpenedAgain) {
  Write(3);
  Write(2);
  EXPECT_EQ(Open().last(), 5U);
  const AuditReport report = Verify();
  EXPECT_EQ(report.records, 5U);
  EXPECT_EQ(report.first, 1U);
  EXPECT_EQ(report.last, 5U);
  EXPECT_EQ(report.last_hash, Records().back()["hash"].get<std::string>());
  EXPECT_TRUE(report.faults.empty());
}

TEST_F(AuditLogTest, AFullFileIsFollowedByAnother) {
  Write(30, 2'500);
  EXPECT_TRUE(fs::exists(file(3)));
  EXPECT_LE(fs::file_size(file(1)), 2'500U);
  EXPECT_EQ(Records().size(), 30U);
  EXPECT_EQ(Faults(), Nothing());
}

TEST_F(AuditLogTest, ARecordThatIsLargerThanAFileGetsOneOfItsOwn) {
  {
    AuditLog log = Open(1'000);
    ASSERT_TRUE(log.Append("test.happened", {{"large", std::string(100'000, 'x')}}));
    ASSERT_TRUE(log.Append("test.happened", Json::object()));
  }
  EXPECT_EQ(TextOf(file(2)).find("xx"), std::string::npos);
  EXPECT_EQ(Open(1'000).last(), 2U);
  EXPECT_EQ(Faults(), Nothing());
}

TEST_F(AuditLogTest, AFileThatAnotherPutWhereTheNextOneShouldBeIsPassedOver) {
  AuditLog log = Open(1'000);
  ASSERT_TRUE(log.Append("test.happened", Json::object()));
  fs::create_symlink("/nowhere", file(2));
  for (int count = 0; count < 10; ++count) ASSERT_TRUE(log.Append("test.happened", Json::object()));
  EXPECT_TRUE(fs::exists(file(3)));
}

TEST_F(AuditLogTest, RecordsGoOnInAnotherFileWhenTheirsIsRemoved) {
  AuditLog log = Open();
  ASSERT_TRUE(log.Append("test.happened", Json::object()));
  fs::remove(file(1));
  ASSERT_TRUE(log.Append("test.happened", Json::object()));
  EXPECT_TRUE(fs::exists(file(2)));
  EXPECT_EQ(Faults(), (std::vector<std::string>{"record 1 is missing"}));
}

TEST_F(AuditLogTest, ThereIsOneWriterAtATime) {
  const AuditLog log = Open();
  const auto second = AuditLog::Open({directory().string()});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, base::Code::kConflict);
}

TEST_F(AuditLogTest, ManyThreadsWriteOneChain) {
  AuditLog log = Open(20'000);
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([&log] {
      for (int count = 0; count < 100; ++count) EXPECT_TRUE(log.Append("test.happened", {{"count", count}}));
    });
  threads.clear();
  EXPECT_EQ(log.last(), 800U);
  EXPECT_EQ(Verify().records, 800U);
  EXPECT_EQ(Faults(), Nothing());
}

TEST_F(AuditLogTest, ItIsWholeForWhoeverReadsWhileItIsWritten) {
  AuditLog log = Open(20'000);
  ASSERT_TRUE(log.Append("test.happened", Json::object()));
  std::jthread writer([&log](const std::stop_token& stop) {
    while (!stop.stop_requested()) (void)log.Append("test.happened", {{"padding", std::string(6'000, 'x')}});
  });
  for (int count = 0; count < 20; ++count) EXPECT_EQ(Faults(), Nothing());
}

// --- what a killed process leaves ---

TEST_F(AuditLogTest, HalfALineIsMovedAwayWithARecordOfThat) {
  Write(3);
  std::ofstream(file(), std::ios::app) << R"({"number":4,"at":"20)";
  {
    const AuditLog log = Open();
    EXPECT_EQ(log.last(), 4U);
  }
  const Json last = Records().back();
  EXPECT_EQ(last["event"], "audit.repaired");
  EXPECT_EQ(last["half_a_line_bytes"], 20);
  EXPECT_EQ(TextOf(directory() / last["moved_to"].get<std::string>()), "{\"number\":4,\"at\":\"20\n");
  EXPECT_EQ(Faults(), Nothing());
}

TEST_F(AuditLogTest, AHeadThatIsOneBehindIsNoDamage) {
  Write(3);
  const std::string before = TextOf(head());
  Write(1);
  SetText(head(), before);
  EXPECT_EQ(Faults(), Nothing());
  EXPECT_EQ(Open().last(), 4U);
  EXPECT_NE(TextOf(head()), before);
}

TEST_F(AuditLogTest, AFileWithoutARecordYetIsNoDamage) {
  Write(3);
  SetText(file(2), "");
  Write(1);
  EXPECT_EQ(Records().size(), 4U);
  EXPECT_EQ(Faults(), Nothing());
}

// --- what somebody changed while nobody wrote ---

struct Damage {
  const char* name;
  std::function<void(const fs::path& directory)> make;
  std::uint64_t next;  // number of the record that reports the damage
};

class AuditDamageTest : public AuditLogTest, public testing::WithParamInterface<Damage> {};

TEST_P(AuditDamageTest, IsRecordedAndTheChainGoesOn) {
  Write(3);
  GetParam().make(directory());
  Write(2);
  const std::vector<Json> records = Records();
  ASSERT_GE(records.size(), 3U);
  const Json& told = records[records.size() - 3];
  EXPECT_EQ(told["event"], "audit.damaged") << told;
  EXPECT_EQ(told["number"], GetParam().next);
  EXPECT_FALSE(told["found"].empty());
  bool named = false;
  for (const AuditFault& fault : Verify().faults) named = named || fault.number == GetParam().next;
  EXPECT_TRUE(named) << "whoever verifies is told as well";
  Write(1);
  EXPECT_EQ(Records().back()["event"], "test.happened") << "it is told once";
}

void CutLastLine(const fs::path& path) {
  const std::string text = TextOf(path);
  SetText(path, text.substr(0, text.rfind('\n', text.size() - 2) + 1));
}

void ReplaceIn(const fs::path& path, const std::string& what, const std::string& with) {
  std::string text = TextOf(path);
  text.replace(text.rfind(what), what.size(), with);
  SetText(path, text);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, AuditDamageTest,
    testing::Values(
        Damage{"TheLastLineWasChanged",
               [](const fs::path& in) { ReplaceIn(in / AuditFileName(1), "happened", "hoppened"); }, 4},
        Damage{"TheNumberOfTheLastLineWasChanged",
               [](const fs::path& in) { ReplaceIn(in / AuditFileName(1), "\"number\":3", "\"number\":9"); }, 4},
        Damage{"TheLastLineWasRemoved", [](const fs::path& in) { CutLastLine(in / AuditFileName(1)); }, 4},
        Damage{"AllLinesWereRemoved", [](const fs::path& in) { SetText(in / AuditFileName(1), ""); }, 4},
        Damage{"TheFileWasRemoved", [](const fs::path& in) { fs::remove(in / AuditFileName(1)); }, 4},
        Damage{"TheFileIsALink",
               [](const fs::path& in) {
                 fs::rename(in / AuditFileName(1), in / "elsewhere");
                 fs::create_symlink("elsewhere", in / AuditFileName(1));
               },
               4},
        Damage{"ALineIsNoRecord",
               [](const fs::path& in) { std::ofstream(in / AuditFileName(1), std::ios::app) << "nonsense\n"; }, 4},
        Damage{"TheHeadWasRemoved", [](const fs::path& in) { fs::remove(in / "head"); }, 4},
        Damage{"TheHeadWasChanged", [](const fs::path& in) { SetText(in / "head", "nonsense"); }, 4},
        Damage{"TheHeadIsADirectory",
               [](const fs::path& in) {
                 fs::remove(in / "head");
                 fs::create_directory(in / "head");
               },
               4},
        Damage{"TheHeadHasAnotherHash",
               [](const fs::path& in) { SetText(in / "head", HeadText({3, std::string(kHashDigits, 'a')})); }, 4},
        Damage{"TheHeadIsFurtherOn",
               [](const fs::path& in) { SetText(in / "head", HeadText({7, std::string(kHashDigits, 'a')})); }, 8},
        Damage{"TheHeadIsImpossiblyFar",
               [](const fs::path& in) {
                 SetText(in / "head", HeadText({kNumbersEnd - 1, std::string(kHashDigits, 'a')}));
               },
               4}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST_F(AuditLogTest, NumbersOfWhatWasCutOffAreNotGivenAgain) {
  Write(5);
  CutLastLine(file());
  CutLastLine(file());
  Write(1);
  EXPECT_EQ(Verify().faults.at(0).what, "records 4 to 5 are missing");
}

// --- when there is no room ---

// The exit status of a child that runs `body`, which returns true for success.
template <class Body>
int InChild(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body() ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

bool LimitFiles(rlim_t bytes) {
  const rlimit limit{bytes, RLIM_INFINITY};
  return ::setrlimit(RLIMIT_FSIZE, &limit) == 0;
}

TEST_F(AuditLogTest, ARecordThatDoesNotFitLeavesNothingAndTheChainGoesOnWhenThereIsRoom) {
  Write(2);
  const auto size = fs::file_size(file());
  const int status = InChild([&] {
    AuditLog log = Open();
    (void)std::signal(SIGXFSZ, SIG_IGN);
    if (!LimitFiles(size + 100)) return false;
    const auto refused = log.Append("test.happened", Json::object());
    const bool nothing_left = fs::file_size(file()) == size;
    const bool told = !refused && refused.error().code == base::Code::kUnavailable && log.last() == 2;
    return told && nothing_left && LimitFiles(RLIM_INFINITY) && log.Append("test.happened", Json::object());
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Records().size(), 3U);
  EXPECT_EQ(Faults(), Nothing());
}

TEST_F(AuditLogTest, AnotherFileThatCannotBeMadeIsDoneWithout) {
  Write(2);
  const int status = InChild([&] {
    AuditLog log = Open(100);
    std::vector<base::UniqueFd> all;
    while (all.empty() || all.back().valid()) all.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    return log.Append("test.happened", Json::object()).has_value();
  });
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(fs::exists(file(2)));
  EXPECT_EQ(Records().size(), 3U);
  EXPECT_EQ(Faults(), Nothing());
}

// --- kill -9 ---

// A process that appends for ever and reports each acknowledged number.
class Appender {
 public:
  explicit Appender(const AuditOptions& options) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) < 0) std::abort();
    told_.Reset(ends[0]);
    pid_ = ::fork();
    if (pid_ == 0) AppendForEver(options, ends[1]);
    ::close(ends[1]);
  }

  // The last number that the process reported before it was killed, after at least `records`.
  std::uint64_t KillAfter(int records, std::chrono::microseconds pause) {
    std::uint64_t last = 0;
    for (int count = 0; count < records; ++count) (void)Read(last);
    std::this_thread::sleep_for(pause);
    ::kill(pid_, SIGKILL);
    while (Read(last)) continue;
    ::waitpid(pid_, nullptr, 0);
    return last;
  }

 private:
  bool Read(std::uint64_t& number) {
    return ::read(told_.get(), &number, sizeof number) == static_cast<ssize_t>(sizeof number);
  }

  [[noreturn]] static void AppendForEver(const AuditOptions& options, int tell) {
    auto log = AuditLog::Open(options);
    // Lines of several pages, so that a kill may cut one in the middle.
    for (std::size_t size = 1; log; size = (size * 7) % 30'011) {
      if (!log->Append("test.happened", {{"padding", std::string(size, 'x')}})) break;
      const std::uint64_t last = log->last();
      if (::write(tell, &last, sizeof last) < 0) break;
    }
    ::_exit(1);
  }

  pid_t pid_ = -1;
  base::UniqueFd told_;
};

TEST_F(AuditLogTest, WhatWasAcknowledgedOutlivesAKillAtAnyMoment) {
  std::mt19937 random(20'261'116);  // NOLINT(cert-msc51-cpp): the same moments each time, as far as machines allow
  for (int round = 0; round < 20; ++round) {
    Appender appender({directory().string(), 500'000});
    const std::uint64_t acknowledged =
        appender.KillAfter(static_cast<int>(random() % 20) + 1, std::chrono::microseconds(random() % 3'000));
    EXPECT_GE(Open(500'000).last(), acknowledged);
    const AuditReport report = Verify();
    ASSERT_TRUE(report.faults.empty()) << report.faults[0].what << " after round " << round;
    EXPECT_GE(report.records, acknowledged);
  }
}

}  // namespace
}  // namespace skerry::watch
