#include "engine/archive_spool.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <stop_token>
#include <string>

#include <gtest/gtest.h>

namespace skerry::engine {
namespace {

base::Result<ArchiveSpool> NewSpool(std::stop_token gone = {}) {
  return ArchiveSpool::Make(std::filesystem::temp_directory_path(), std::move(gone));
}

TEST(ArchiveSpoolTest, WhatWasWrittenIsThereWithItsZeros) {
  auto spool = NewSpool();
  ASSERT_TRUE(spool) << spool.error().message;
  const std::string zeros(5000, '\0');
  for (const std::string& piece : {zeros, std::string("abc"), zeros, std::string("de\0f", 4), zeros})
    ASSERT_TRUE(spool->Write(piece));
  const auto whole = std::move(*spool).Finish();
  ASSERT_TRUE(whole);
  const std::string expected = zeros + "abc" + zeros + std::string("de\0f", 4) + zeros;
  ASSERT_EQ(whole->size, expected.size());
  std::string bytes(expected.size() + 1, 'x');
  ASSERT_EQ(::pread(whole->file.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(expected.size()));
  bytes.pop_back();
  EXPECT_EQ(bytes, expected);
}

TEST(ArchiveSpoolTest, ZerosTakeNoRoomOnTheDisk) {
  auto spool = NewSpool();
  ASSERT_TRUE(spool);
  const std::string zeros(std::size_t{1} << 20U, '\0');
  for (int i = 0; i < 64; ++i) ASSERT_TRUE(spool->Write(zeros));
  const auto whole = std::move(*spool).Finish();
  ASSERT_TRUE(whole);
  struct stat facts{};
  ASSERT_EQ(::fstat(whole->file.get(), &facts), 0);
  EXPECT_EQ(facts.st_size, 64 << 20);
  EXPECT_LT(facts.st_blocks * 512, 1 << 20);
}

TEST(ArchiveSpoolTest, TheFileHasNoName) {
  auto spool = NewSpool();
  ASSERT_TRUE(spool);
  const auto whole = std::move(*spool).Finish();
  ASSERT_TRUE(whole);
  struct stat facts{};
  ASSERT_EQ(::fstat(whole->file.get(), &facts), 0);
  EXPECT_EQ(facts.st_nlink, 0U);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
}

TEST(ArchiveSpoolTest, NothingIsWrittenForOneWhoIsGone) {
  std::stop_source gone;
  auto spool = NewSpool(gone.get_token());
  ASSERT_TRUE(spool);
  EXPECT_TRUE(spool->Write("a"));
  gone.request_stop();
  EXPECT_FALSE(spool->Write("b"));
}

}  // namespace
}  // namespace skerry::engine
