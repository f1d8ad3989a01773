#include "engine/output_log.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/unique_fd.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::engine {
namespace {

namespace fs = std::filesystem;
using core::Stream;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::size_t kAll = 1UL << 40;
constexpr std::size_t kHeader = 5;

OutputPiece Out(std::uint64_t offset, std::string bytes) {
  return {.stream = Stream::kStdout, .offset = offset, .bytes = std::move(bytes)};
}

OutputPiece Error(std::uint64_t offset, std::string bytes) {
  return {.stream = Stream::kStderr, .offset = offset, .bytes = std::move(bytes)};
}

void Put(OutputLog& log, Stream stream, std::string_view bytes) {
  const auto answer = log.Write(stream, bytes, base::Deadline::Never());
  EXPECT_EQ(answer.accepted, bytes.size());
  EXPECT_TRUE(answer.wants_more);
}

// The bytes of the pieces, whose offsets must follow each other.
std::string Joined(const std::vector<OutputPiece>& pieces, std::uint64_t offset) {
  std::string bytes;
  for (const OutputPiece& piece : pieces) {
    EXPECT_EQ(piece.offset, offset + bytes.size());
    EXPECT_FALSE(piece.bytes.empty());
    bytes += piece.bytes;
  }
  return bytes;
}

std::string Random(std::size_t size) {
  static std::mt19937 random(1);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

class OutputLogTest : public testing::Test {
 protected:
  [[nodiscard]] fs::path Path() const { return directory_.path() / "log"; }
  [[nodiscard]] OutputReader File(std::uint64_t offset = 0) const {
    return OutputLog::ReadFile(fd_.get(), "log", offset).value();
  }
  [[nodiscard]] std::vector<OutputPiece> InFile() const { return File().Next(kAll).value(); }
  void Raw(const std::string& bytes) { std::ofstream(Path(), std::ios::binary | std::ios::app) << bytes; }

  support::TemporaryDirectory directory_;
  base::UniqueFd fd_{::open(directory_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  OutputLog log_{fd_.get(), "log"};
};

TEST_F(OutputLogTest, ThereIsNoFileBeforeTheFirstByte) {
  Put(log_, Stream::kStdout, "");
  EXPECT_FALSE(fs::exists(Path()));
  EXPECT_THAT(log_.Read(0)->Next(kAll).value(), IsEmpty());
  EXPECT_THAT(InFile(), IsEmpty());
  Put(log_, Stream::kStdout, "x");
  EXPECT_TRUE(fs::exists(Path()));
}

TEST_F(OutputLogTest, TheFileIsForItsOwnerOnly) {
  const mode_t before = ::umask(0);
  Put(log_, Stream::kStdout, "x");
  ::umask(before);
  EXPECT_EQ(fs::status(Path()).permissions(), fs::perms(0600));
}

TEST_F(OutputLogTest, TheFileHasFrames) {
  Put(log_, Stream::kStdout, "ab");
  Put(log_, Stream::kStderr, std::string(258, 'c'));
  std::ifstream file(Path(), std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(bytes, std::string("\1\2\0\0\0ab\2\2\1\0\0", 12) + std::string(258, 'c'));
}

TEST_F(OutputLogTest, WhatWasWrittenIsReadInOrderWithItsStream) {
  Put(log_, Stream::kStdout, "one");
  Put(log_, Stream::kStderr, "two");
  Put(log_, Stream::kStderr, " three");
  Put(log_, Stream::kStdout, std::string("\0\xFF", 2));
  const auto expected = ElementsAre(Out(0, "one"), Error(3, "two three"), Out(12, std::string("\0\xFF", 2)));
  EXPECT_THAT(log_.Read(0)->Next(kAll).value(), expected);
  EXPECT_THAT(InFile(), expected);
  EXPECT_EQ(log_.size(), 14U);
  EXPECT_EQ(log_.lost(), 0U);
}

TEST_F(OutputLogTest, AReaderSeesWhatComesLater) {
  auto reader = log_.Read(0).value();
  EXPECT_THAT(reader.Next(kAll).value(), IsEmpty());
  Put(log_, Stream::kStdout, "a");
  EXPECT_THAT(reader.Next(kAll).value(), ElementsAre(Out(0, "a")));
  EXPECT_THAT(reader.Next(kAll).value(), IsEmpty());
  Put(log_, Stream::kStdout, "b");
  EXPECT_THAT(reader.Next(kAll).value(), ElementsAre(Out(1, "b")));
  EXPECT_EQ(reader.offset(), 2U);
}

TEST_F(OutputLogTest, AReaderOutlivesTheLog) {
  auto log = std::make_unique<OutputLog>(fd_.get(), "other");
  auto reader = log->Read(0).value();
  Put(*log, Stream::kStdout, "a");
  log.reset();
  fs::remove(directory_.path() / "other");
  EXPECT_THAT(reader.Next(kAll).value(), ElementsAre(Out(0, "a")));
}

TEST_F(OutputLogTest, EveryOffsetGivesTheRest) {
  std::string all;
  for (int i = 0; i < 40; ++i) {
    const std::string piece = Random(1 + static_cast<std::size_t>(i) % 7);
    Put(log_, i % 3 == 0 ? Stream::kStderr : Stream::kStdout, piece);
    all += piece;
  }
  for (std::size_t offset = 0; offset <= all.size(); ++offset) {
    EXPECT_EQ(Joined(log_.Read(offset)->Next(kAll).value(), offset), all.substr(offset));
    EXPECT_EQ(Joined(File(offset).Next(kAll).value(), offset), all.substr(offset));
  }
}

TEST_F(OutputLogTest, AnOffsetBehindTheEndWaitsThere) {
  Put(log_, Stream::kStdout, "0123");
  auto reader = log_.Read(6).value();
  EXPECT_THAT(reader.Next(kAll).value(), IsEmpty());
  EXPECT_EQ(reader.offset(), 6U);
  Put(log_, Stream::kStdout, "45");
  EXPECT_THAT(reader.Next(kAll).value(), IsEmpty());
  Put(log_, Stream::kStderr, "678");
  EXPECT_THAT(reader.Next(kAll).value(), ElementsAre(Error(6, "678")));
}

TEST_F(OutputLogTest, ALimitCutsPiecesAndLosesNothing) {
  std::string all;
  for (const std::size_t size : {1U, 10U, 70'000U, 3U, 300'000U}) {
    all += Random(size);
    Put(log_, Stream::kStdout, std::string_view(all).substr(all.size() - size));
  }
  for (const std::size_t limit : {7UL, 4096UL, 65'536UL, 100'000UL, kAll}) {
    auto reader = log_.Read(0).value();
    std::string seen;
    while (true) {
      const auto pieces = reader.Next(limit).value();
      if (pieces.empty()) break;
      const std::string bytes = Joined(pieces, seen.size());
      ASSERT_LE(bytes.size(), limit);
      seen += bytes;
      ASSERT_EQ(reader.offset(), seen.size());
    }
    EXPECT_TRUE(seen == all) << limit;
  }
  EXPECT_THAT(log_.Read(0)->Next(0).value(), IsEmpty());
}

TEST_F(OutputLogTest, ALargePieceIsSplitInTheFile) {
  constexpr std::size_t kMaxWritten = 256UL * 1024;
  const std::string large = Random(2 * kMaxWritten + 1);
  Put(log_, Stream::kStderr, large);
  EXPECT_EQ(fs::file_size(Path()), large.size() + 3 * kHeader);
  EXPECT_EQ(log_.size(), large.size());
  EXPECT_TRUE(OutputLog::All(File(), Stream::kStderr, kAll).value() == large);
}

TEST_F(OutputLogTest, AllIsOneStreamUpToALimit) {
  for (int i = 0; i < 3; ++i) {
    Put(log_, Stream::kStdout, std::string(40'000, static_cast<char>('a' + i)));
    Put(log_, Stream::kStderr, "error");
  }
  const std::string out = std::string(40'000, 'a') + std::string(40'000, 'b') + std::string(40'000, 'c');
  EXPECT_TRUE(OutputLog::All(log_.Read(0).value(), Stream::kStdout, kAll).value() == out);
  EXPECT_EQ(OutputLog::All(log_.Read(0).value(), Stream::kStderr, kAll).value(), "errorerrorerror");
  EXPECT_EQ(OutputLog::All(log_.Read(0).value(), Stream::kStderr, 7).value(), "errorer");
  EXPECT_TRUE(OutputLog::All(File(), Stream::kStdout, 100'000).value() == out.substr(0, 100'000));
  EXPECT_EQ(OutputLog::All(log_.Read(40'003).value(), Stream::kStderr, kAll).value(), "orerrorerror");
}

TEST_F(OutputLogTest, ATornLastFrameIsNotThere) {
  Put(log_, Stream::kStdout, "whole");
  Put(log_, Stream::kStderr, "torn");
  for (std::uintmax_t size = fs::file_size(Path()) - 1; size >= kHeader + 5; --size) {
    fs::resize_file(Path(), size);
    EXPECT_THAT(InFile(), ElementsAre(Out(0, "whole"))) << size;
    EXPECT_THAT(File(7).Next(kAll).value(), IsEmpty()) << size;
  }
}

TEST_F(OutputLogTest, NothingIsReadBehindWhatIsNoFrame) {
  const std::string good("\1\1\0\0\0y", 6);
  for (const std::string& bad :
       {std::string("\0\1\0\0\0x", 6), std::string("\3\1\0\0\0x", 6), std::string("\1\0\0\0\0", 5),
        std::string("\1\1\0\x10\0", 5) + std::string(1024UL * 1024 + 1, 'x'), std::string("\1\xFF\xFF\xFF\xFF", 5)}) {
    fs::remove(Path());
    Raw(good + bad + good);
    EXPECT_THAT(InFile(), ElementsAre(Out(0, "y")));
  }
  fs::remove(Path());
  Raw(good + std::string("\1\0\0\x10\0", 5) + std::string(1024UL * 1024, 'x') + good);
  EXPECT_EQ(Joined(InFile(), 0).size(), 1024U * 1024 + 2) << "the largest that is read";
}

TEST_F(OutputLogTest, AFileThatIsThereIsNotTouchedAndAllIsLost) {
  Raw("theirs");
  Put(log_, Stream::kStdout, "mine");
  EXPECT_EQ(log_.size(), 0U);
  EXPECT_EQ(log_.lost(), 4U);
  EXPECT_EQ(fs::file_size(Path()), 6U);
  EXPECT_THAT(log_.Read(0)->Next(kAll).value(), IsEmpty());
}

TEST_F(OutputLogTest, LinksAreNotFollowed) {
  fs::create_symlink("target", Path());
  Put(log_, Stream::kStdout, "mine");
  EXPECT_EQ(log_.lost(), 4U);
  EXPECT_FALSE(fs::exists(directory_.path() / "target"));
  std::ofstream(directory_.path() / "target") << "secret";
  EXPECT_FALSE(OutputLog::ReadFile(fd_.get(), "log", 0));
  fs::remove(Path());
  ASSERT_EQ(::mkfifo(Path().c_str(), 0600), 0);
  EXPECT_FALSE(OutputLog::ReadFile(fd_.get(), "log", 0)) << "and nobody is waited for";
}

TEST_F(OutputLogTest, ReadersBesideAWriterAllSeeTheSame) {
  constexpr int kReaders = 3;
  const std::string all = Random(3'000'000);
  std::atomic<bool> done = false;
  std::array<std::string, kReaders> seen;
  {
    std::vector<std::jthread> readers;
    for (std::size_t i = 0; i < kReaders; ++i)
      readers.emplace_back([&, i] {
        auto reader = log_.Read(0).value();
        while (true) {
          const bool last = done;
          const auto pieces = reader.Next(i == 0 ? kAll : 1000 * i).value();
          seen.at(i) += Joined(pieces, seen.at(i).size());
          if (pieces.empty() && last) return;
        }
      });
    std::mt19937 random(2);
    for (std::size_t at = 0; at < all.size();) {
      const std::string_view piece = std::string_view(all).substr(at, 1 + random() % 5000);
      Put(log_, random() % 2 == 0 ? Stream::kStdout : Stream::kStderr, piece);
      at += piece.size();
    }
    done = true;
  }
  for (const std::string& bytes : seen) EXPECT_TRUE(bytes == all) << bytes.size();
}

TEST_F(OutputLogTest, WritersShareALogAndNoPieceIsMixed) {
  {
    std::vector<std::jthread> writers;
    for (const Stream stream : {Stream::kStdout, Stream::kStderr})
      writers.emplace_back([this, stream] {
        for (int i = 0; i < 500; ++i) Put(log_, stream, stream == Stream::kStdout ? "oooo\n" : "eeeeeeee\n");
      });
  }
  std::string out;
  for (int i = 0; i < 500; ++i) out += "oooo\n";
  EXPECT_EQ(OutputLog::All(File(), Stream::kStdout, kAll).value(), out);
  EXPECT_EQ(log_.size(), 500U * 14);
}

TEST_F(OutputLogTest, AKilledWriterLeavesWholePieces) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    while (true) (void)log_.Write(Stream::kStdout, std::string(10'000, 'x'), base::Deadline::Never());
  }
  while (!fs::exists(Path()) || fs::file_size(Path()) < 1'000'000) std::this_thread::yield();
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const std::string bytes = Joined(InFile(), 0);
  EXPECT_EQ(bytes.size() % 10'000, 0U);
  EXPECT_GE(bytes.size() + kHeader + 10'000, fs::file_size(Path()) / 10'005 * 10'000);
}

// Runs in a process of its own, with which its mounts end.
int FillADisk(const fs::path& small) {
  constexpr int kNotPossible = 77;
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("none", small.c_str(), "tmpfs", 0, "size=256k,mode=0700") != 0)
    return kNotPossible;
  const auto check = [](bool holds, const char* what) {
    if (!holds) std::fprintf(stderr, "in the child: %s\n", what);
    return holds;
  };
  const base::UniqueFd directory(::open(small.c_str(), O_RDONLY | O_DIRECTORY));
  std::ofstream(small / "ballast") << std::string(100'000, 'b');
  OutputLog log(directory.get(), "log");
  auto reader = log.Read(0).value();
  std::string kept;
  for (int i = 0; i < 40; ++i) {
    const std::string piece(9'000, static_cast<char>('a' + i));
    const std::uint64_t before = log.size();
    if (!check(log.Write(Stream::kStdout, piece, base::Deadline::Never()).accepted == 9'000, "not all taken")) return 1;
    if (log.size() != before) kept += piece;
  }
  if (!check(log.lost() > 0 && log.lost() + log.size() == 360'000, "wrong counts")) return 1;
  if (!check(fs::file_size(small / "log") == kept.size() + kept.size() / 9'000 * kHeader, "half a frame")) return 1;
  fs::remove(small / "ballast");
  (void)log.Write(Stream::kStdout, "and on", base::Deadline::Never());
  kept += "and on";
  const auto living = OutputLog::All(std::move(reader), Stream::kStdout, kAll).value();
  const auto file = OutputLog::All(OutputLog::ReadFile(directory.get(), "log", 0).value(), Stream::kStdout, kAll);
  return check(living == kept, "the reader sees something else") && check(*file == kept, "the file is not whole") ? 0
                                                                                                                  : 1;
}

TEST_F(OutputLogTest, OnAFullDiskWholePiecesAreLostAndCounted) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(FillADisk(directory_.path()));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "needs the right to mount";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace skerry::engine
