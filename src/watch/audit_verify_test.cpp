#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/temporary_directory.hpp"
#include "watch/audit_chain.hpp"
#include "watch/audit_log.hpp"

namespace skerry::watch {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;  // with their newlines

constexpr std::size_t kRecords = 30;
constexpr std::size_t kFiles = 3;
constexpr std::size_t kEach = kRecords / kFiles;

// Thirty records, each `{"number":N,…`, the same in every test.
Lines MakeLines() {
  Lines lines;
  std::string previous(kNoHash);
  for (std::size_t number = 1; number <= kRecords; ++number) {
    AuditText text = MakeAuditLine({number, {}, "test.happened"}, {{"about", "something"}}, previous);
    previous = text.hash;
    lines.push_back(std::move(text.line));
  }
  return lines;
}

// A record that an attacker who knows the form would make.
std::string Forged(std::uint64_t number, std::string_view previous) {
  return MakeAuditLine({number, {}, "test.forged"}, {}, previous).line;
}

std::string HashOf(const std::string& line) {
  return std::string(ReadAuditLine(std::string_view(line).substr(0, line.size() - 1)).value().hash);
}

void SetText(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

class AuditVerifyTest : public testing::Test {
 protected:
  // Writes ten lines to each of three files, as far as there are lines.
  void Save(const Lines& lines) const {
    for (std::size_t file = 0; file < kFiles; ++file) {
      std::string text;
      const std::size_t begin = std::min(lines.size(), file * kEach);
      const std::size_t end = file + 1 == kFiles ? lines.size() : std::min(lines.size(), (file + 1) * kEach);
      for (std::size_t index = begin; index < end; ++index) text += lines[index];
      SetText(FileAt(file + 1), text);
    }
  }
  void SaveHead(const AuditHead& head) const { SetText(home_.path() / "head", HeadText(head)); }

  [[nodiscard]] fs::path FileAt(std::size_t number) const { return home_.path() / AuditFileName(number); }

  [[nodiscard]] AuditReport Verify() const {
    auto report = VerifyAudit(home_.path().string());
    EXPECT_TRUE(report) << report.error().message;
    return report.value_or(AuditReport{});
  }

  // Expects that the fault is found and named, and that there are exactly `faults`.
  void ExpectNamed(const Lines& lines, std::uint64_t number, const std::string& words, std::size_t faults = 1) const {
    Save(lines);
    const AuditReport report = Verify();
    std::string all;
    for (const AuditFault& fault : report.faults) all += fault.what + "\n";
    ASSERT_EQ(report.faults.size(), faults) << "record " << number << ":\n" << all;
    EXPECT_EQ(report.faults[0].number, number) << all;
    EXPECT_NE(report.faults[0].what.find(words), std::string::npos) << all;
  }

  void SetUp() override {
    Save(lines_);
    SaveHead({kRecords, HashOf(lines_.back())});
  }

  const Lines lines_ = MakeLines();
  support::TemporaryDirectory home_;
};

TEST_F(AuditVerifyTest, WhatWasLeftAloneHasNoFaults) {
  const AuditReport report = Verify();
  EXPECT_TRUE(report.faults.empty());
  EXPECT_EQ(report.records, kRecords);
  EXPECT_EQ(report.first, 1U);
  EXPECT_EQ(report.last, kRecords);
  EXPECT_EQ(report.last_hash, HashOf(lines_.back()));
}

TEST_F(AuditVerifyTest, WhereNothingIsThereIsNoAudit) {
  EXPECT_EQ(VerifyAudit((home_.path() / "none").string()).error().code, base::Code::kNotFound);
  const support::TemporaryDirectory empty;
  EXPECT_EQ(VerifyAudit(empty.path().string()).error().code, base::Code::kNotFound);
}

TEST_F(AuditVerifyTest, EachRecordIsGivenToWhoeverAsks) {
  Lines lines = lines_;
  lines[4] = "nonsense\n";
  Save(lines);
  Lines taken;
  ASSERT_TRUE(VerifyAudit(home_.path().string(), [&](std::string_view line) {
    taken.push_back(std::string(line) + "\n");
    return true;
  }));
  lines.erase(lines.begin() + 4);
  EXPECT_EQ(taken, lines);
}

TEST_F(AuditVerifyTest, LinesAreReadUntilEnough) {
  std::size_t count = 0;
  ASSERT_TRUE(ReadAudit(home_.path().string(), [&](std::string_view) { return ++count < 12; }));
  EXPECT_EQ(count, 12U);
}

// --- each kind of tampering at each record ---

TEST_F(AuditVerifyTest, AnyChangedByteNamesItsRecord) {
  // A record in the middle of a file, so that all of its bytes are tried in reasonable time.
  constexpr std::size_t kIndex = 14;
  for (std::size_t at = 0; at + 1 < lines_[kIndex].size(); ++at) {
    for (const char byte : {'9', 'x', '"', '\n', '\0'}) {
      if (lines_[kIndex][at] == byte) continue;
      Lines lines = lines_;
      lines[kIndex][at] = byte;
      Save(lines);
      const AuditReport report = Verify();
      ASSERT_EQ(report.faults.size(), 1U) << "byte " << at << " is " << byte << ": " << report.faults.size();
      EXPECT_EQ(report.faults[0].number, kIndex + 1) << "byte " << at << ": " << report.faults[0].what;
      EXPECT_EQ(report.faults[0].file, AuditFileName(2));
      EXPECT_EQ(report.faults[0].line, 5U);
    }
  }
}

TEST_F(AuditVerifyTest, AChangedRecordIsNamed) {
  for (std::size_t index = 0; index < kRecords; ++index) {
    Lines lines = lines_;
    lines[index].replace(lines[index].find("something"), 4, "else");
    ExpectNamed(lines, index + 1, "was changed");
  }
}

TEST_F(AuditVerifyTest, AnotherNewlineNamesTheRecordsThatItJoined) {
  for (std::size_t index = 0; index < kRecords; ++index) {
    Lines lines = lines_;
    lines[index].back() = ' ';
    Save(lines);
    const AuditReport report = Verify();
    ASSERT_FALSE(report.faults.empty());
    EXPECT_LE(report.faults.size(), 2U);
    EXPECT_EQ(report.faults[0].number, index + 1) << report.faults[0].what;
  }
}

TEST_F(AuditVerifyTest, ARemovedRecordIsNamed) {
  for (std::size_t index = 0; index < kRecords; ++index) {
    Lines lines = lines_;
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(index));
    ExpectNamed(lines, index + 1, "record " + std::to_string(index + 1) + " is missing");
  }
}

TEST_F(AuditVerifyTest, RemovedRecordsAreNamedTogether) {
  for (std::size_t index = 0; index + 3 <= kRecords; ++index) {
    Lines lines = lines_;
    const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(index);
    lines.erase(begin, begin + 3);
    ExpectNamed(lines, index + 1,
                "records " + std::to_string(index + 1) + " to " + std::to_string(index + 3) + " are missing");
  }
}

TEST_F(AuditVerifyTest, ARecordThatTookThePlaceOfTheNextIsNamed) {
  for (std::size_t index = 0; index + 1 < kRecords; ++index) {
    Lines lines = lines_;
    std::swap(lines[index], lines[index + 1]);
    ExpectNamed(lines, index + 1, "out of order");
  }
}

TEST_F(AuditVerifyTest, ARecordThatWasMovedFarIsNamed) {
  for (std::size_t index = 0; index < kRecords; ++index) {
    for (const std::size_t to : {std::size_t{0}, std::size_t{5}, std::size_t{17}, kRecords - 1}) {
      // Moved by one place: either of the two records may be the one that was moved.
      if (to == index || to + 1 == index || index + 1 == to) continue;
      Lines lines = lines_;
      const std::string moved = lines[index];
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(index));
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(to), moved);
      ExpectNamed(lines, index + 1, "out of order");
    }
  }
}

TEST_F(AuditVerifyTest, ARecordThatIsThereTwiceIsNamed) {
  for (std::size_t index = 0; index < kRecords; ++index) {
    for (const std::size_t to : {std::size_t{0}, index, index + 1, std::size_t{17}, kRecords}) {
      Lines lines = lines_;
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(to), lines_[index]);
      ExpectNamed(lines, index + 1, "twice");
    }
  }
}

TEST_F(AuditVerifyTest, ABlockThatIsThereTwiceIsNamed) {
  Lines lines = lines_;
  lines.insert(lines.begin() + 8, lines_.begin() + 5, lines_.begin() + 8);
  ExpectNamed(lines, 6, "records 6 to 8 are there twice");
}

TEST_F(AuditVerifyTest, AnInsertedRecordIsNamed) {
  for (std::size_t index = 0; index < kRecords; ++index) {
    const std::string previous = index == 0 ? std::string(kNoHash) : HashOf(lines_[index - 1]);
    Lines lines = lines_;
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(index), Forged(index + 1, previous));
    ExpectNamed(lines, index + 1, "twice");
  }
}

TEST_F(AuditVerifyTest, AnInsertedRecordWithANumberOfItsOwnIsNamed) {
  for (std::size_t index = 0; index <= kRecords; ++index) {
    Lines lines = lines_;
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(index), Forged(999, kNoHash));
    ExpectNamed(lines, 999, "out of order");
  }
}

TEST_F(AuditVerifyTest, AReplacedRecordIsNamedThoughItsOwnHashIsRight) {
  for (std::size_t index = 0; index < kRecords; ++index) {
    Lines lines = lines_;
    lines[index] = Forged(index + 1, index == 0 ? std::string(kNoHash) : HashOf(lines_[index - 1]));
    ExpectNamed(lines, index + 1, "was replaced");
  }
}

TEST_F(AuditVerifyTest, AReplacedRecordThatFollowsNoneIsNamed) {
  for (std::size_t index = 1; index + 1 < kRecords; ++index) {
    Lines lines = lines_;
    lines[index] = Forged(index + 1, kNoHash);
    ExpectNamed(lines, index + 1, "was replaced");
  }
}

TEST_F(AuditVerifyTest, GarbageBetweenRecordsIsOneFault) {
  for (std::size_t index = 0; index <= kRecords; ++index) {
    Lines lines = lines_;
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(index), "nonsense\n\n{}\n");
    ExpectNamed(lines, index + 1, "3 lines are no records");
  }
}

TEST_F(AuditVerifyTest, GarbageInsteadOfARecordIsOneFault) {
  for (std::size_t index = 0; index < kRecords; ++index) {
    Lines lines = lines_;
    lines[index] = std::string("\0\0\0\n", 4);
    ExpectNamed(lines, index + 1, "a line is no record");
  }
}

TEST_F(AuditVerifyTest, TwoChangesAreTwoFaults) {
  Lines lines = lines_;
  lines[3].replace(lines[3].find("something"), 4, "else");
  lines.erase(lines.begin() + 20);
  Save(lines);
  const AuditReport report = Verify();
  ASSERT_EQ(report.faults.size(), 2U);
  EXPECT_EQ(report.faults[0].number, 4U);
  EXPECT_EQ(report.faults[1].number, 21U);
}

TEST_F(AuditVerifyTest, AMissingFileNamesItsRecords) {
  for (std::size_t file = 1; file <= kFiles; ++file) {
    Save(lines_);
    fs::remove(FileAt(file));
    const AuditReport report = Verify();
    const std::uint64_t first = (file - 1) * kEach + 1;
    ASSERT_EQ(report.faults.size(), 1U);
    EXPECT_EQ(report.faults[0].number, first);
    EXPECT_TRUE(report.faults[0].what.starts_with("records " + std::to_string(first) + " to " +
                                                  std::to_string(first + kEach - 1) + " are missing"))
        << report.faults[0].what;
  }
}

TEST_F(AuditVerifyTest, FilesThatChangedPlacesAreNamed) {
  fs::rename(FileAt(1), home_.path() / "aside");
  fs::rename(FileAt(2), FileAt(1));
  fs::rename(home_.path() / "aside", FileAt(2));
  const AuditReport report = Verify();
  ASSERT_EQ(report.faults.size(), 1U);
  EXPECT_EQ(report.faults[0].what, "records 1 to 10 are out of order: found behind record 20");
}

TEST_F(AuditVerifyTest, WhatIsNoFileIsNamed) {
  fs::remove(FileAt(2));
  fs::create_directory(FileAt(2));
  const AuditReport report = Verify();
  ASSERT_FALSE(report.faults.empty());
  EXPECT_EQ(report.faults[0].file, AuditFileName(2));
  EXPECT_EQ(report.faults[0].number, 11U);
}

TEST_F(AuditVerifyTest, HalfALineAtTheEndIsNamed) {
  Lines lines = lines_;
  lines.back().resize(40);
  ExpectNamed(lines, kRecords, "a line is not ended");
}

// --- the head ---

TEST_F(AuditVerifyTest, AMissingHeadIsAFault) {
  fs::remove(home_.path() / "head");
  ExpectNamed(lines_, kRecords, "the head is missing");
}

TEST_F(AuditVerifyTest, AnyChangedByteOfTheHeadIsAFault) {
  const std::string text = HeadText({kRecords, HashOf(lines_.back())});
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char byte : {'1', '7', 'x', '\n'}) {
      if (text[at] == byte) continue;
      std::string changed = text;
      changed[at] = byte;
      SetText(home_.path() / "head", changed);
      const AuditReport report = Verify();
      ASSERT_EQ(report.faults.size(), 1U) << at << " " << byte;
      EXPECT_EQ(report.faults[0].file, "head");
    }
  }
}

TEST_F(AuditVerifyTest, AHeadThatIsOneBehindIsWhatAKilledProcessLeaves) {
  SaveHead({kRecords - 1, HashOf(lines_[kRecords - 2])});
  EXPECT_TRUE(Verify().faults.empty());
}

TEST_F(AuditVerifyTest, AHeadOfLongAgoIsAFault) {
  SaveHead({kRecords - 2, HashOf(lines_[kRecords - 3])});
  ExpectNamed(lines_, kRecords - 2, "the head was changed");
}

TEST_F(AuditVerifyTest, AHeadAloneNamesAllRecordsThatAreGone) {
  for (std::size_t file = 1; file <= kFiles; ++file) fs::remove(FileAt(file));
  ExpectNamed({}, 1, "records 1 to 30 are missing at the end");
}

// --- much that is wrong ---

TEST_F(AuditVerifyTest, NoMoreThanAHundredFaultsAreTold) {
  Lines lines;
  for (int count = 0; count < 300; ++count) lines.push_back(lines_[static_cast<std::size_t>(count * 7) % kRecords]);
  Save(lines);
  EXPECT_EQ(Verify().faults.size(), 100U);
}

TEST_F(AuditVerifyTest, AnAuditInWhichNothingIsInOrderIsGivenUpOn) {
  Lines lines;
  for (int count = 0; count < 5'000; ++count) lines.push_back(lines_[static_cast<std::size_t>(count * 7) % kRecords]);
  Save(lines);
  const AuditReport report = Verify();
  EXPECT_EQ(report.records, 5'000U);
  EXPECT_EQ(report.faults.size(), 100U);
}

}  // namespace
}  // namespace skerry::watch
