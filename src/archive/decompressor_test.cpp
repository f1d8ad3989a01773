#include "archive/decompressor.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive/archive_builder.hpp"

namespace skerry::archive {
namespace {

using testing::HasSubstr;

struct Outcome {
  std::string bytes;  // at most 1 MB
  std::uint64_t count = 0;
  std::string error;
  base::Code code{};
};

Outcome Decompress(ByteSource& compressed, std::size_t step = 10'000) {
  Outcome outcome;
  const auto fail = [&](const base::Error& error) {
    outcome.error = error.message;
    outcome.code = error.code;
    return outcome;
  };
  const auto source = OpenDecompressed(compressed);
  if (!source) return fail(source.error());
  std::string buffer(step, '\0');
  for (;;) {
    const auto count = (*source)->Read(buffer);
    if (!count) return fail(count.error());
    if (*count == 0) return outcome;
    if (outcome.count < (1U << 20U)) outcome.bytes.append(buffer.data(), *count);
    outcome.count += *count;
  }
}

Outcome Decompress(const std::string& compressed, std::size_t step = 10'000) {
  MemorySource source(compressed);
  return Decompress(source, step);
}

std::string Text() {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i * 7919 % 10'007);
  return text;
}

TEST(DecompressorTest, TellsTheFormatByItsFirstBytes) {
  for (const std::string& text : {Text(), std::string("x"), std::string()}) {
    EXPECT_EQ(Decompress(Gzip(text)).bytes, text);
    EXPECT_EQ(Decompress(Zstd(text)).bytes, text);
    EXPECT_EQ(Decompress(text).bytes, text);
    EXPECT_EQ(Decompress(Gzip(text)).error, "");
    EXPECT_EQ(Decompress(Zstd(text)).error, "");
  }
}

TEST(DecompressorTest, TheSizeOfTheReadsDoesNotMatter) {
  for (const std::size_t step : {1U, 2U, 511U, 1U << 20U}) {
    EXPECT_EQ(Decompress(Gzip(Text()), step).bytes, Text()) << step;
    EXPECT_EQ(Decompress(Zstd(Text()), step).bytes, Text()) << step;
  }
}

TEST(DecompressorTest, StreamsInARowAreOne) {
  EXPECT_EQ(Decompress(Gzip("one") + Gzip("") + Gzip("two")).bytes, "onetwo");
  EXPECT_EQ(Decompress(Zstd("one") + Zstd("") + Zstd("two")).bytes, "onetwo");
  const std::string skipped("\x50\x2A\x4D\x18\x04\x00\x00\x00none", 12);
  EXPECT_EQ(Decompress(Zstd("one") + skipped).bytes, "one");
}

TEST(DecompressorTest, WhereverItIsCutOffIsSaid) {
  for (const std::string& whole : {Gzip(Text()), Zstd(Text())}) {
    for (const std::size_t length : {std::size_t{6}, std::size_t{20}, whole.size() / 2, whole.size() - 1})
      EXPECT_THAT(Decompress(whole.substr(0, length)).error, HasSubstr("cut off")) << length;
  }
}

TEST(DecompressorTest, AnythingElseAfterTheEndIsRefused) {
  EXPECT_THAT(Decompress(Gzip("x") + "garbage").error, HasSubstr("after the end"));
  EXPECT_THAT(Decompress(Gzip("x") + std::string(512, '\0')).error, HasSubstr("after the end"));
  EXPECT_THAT(Decompress(Zstd("x") + "garbage").error, HasSubstr("damaged"));
  EXPECT_THAT(Decompress(Gzip("x") + Zstd("y")).error, HasSubstr("after the end"));
}

TEST(DecompressorTest, AChangedByteIsFound) {
  std::string gzip = Gzip(Text());
  gzip[gzip.size() / 2] ^= 0x55;
  EXPECT_THAT(Decompress(gzip).error, HasSubstr("damaged"));
  std::string sum = Gzip(Text());
  sum[sum.size() - 6] ^= 0x55;  // in the checksum at the end
  EXPECT_THAT(Decompress(sum).error, HasSubstr("damaged"));
}

TEST(DecompressorTest, OtherFormatsAreNamedWithWhatToDo) {
  const std::string xz = std::string(
                             "\xFD"
                             "7zXZ\0",
                             6) +
                         "rest";
  EXPECT_THAT(Decompress(xz).error, HasSubstr("xz -d"));
  EXPECT_THAT(Decompress("BZh91AY").error, HasSubstr("bzip2 -d"));
  EXPECT_THAT(Decompress("PK\x03\x04xxxx").error, HasSubstr("zip"));
}

// The same compressed bytes, `times` times.
class Repeating : public ByteSource {
 public:
  Repeating(std::string bytes, int times) : bytes_(std::move(bytes)), left_(times) {}
  base::Result<std::size_t> Read(std::span<char> buffer) override {
    std::size_t filled = 0;
    for (; filled < buffer.size() && left_ > 0; ++filled) {
      buffer[filled] = bytes_[at_++];
      if (at_ == bytes_.size()) at_ = 0, --left_;
    }
    return filled;
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
  int left_;
};

TEST(DecompressorTest, ABombIsStoppedSoonAfterAHundredMegabytes) {
  const std::string zeros(50U << 20U, '\0');
  Repeating zstd(Zstd(zeros), 1000);
  const Outcome of_zstd = Decompress(zstd, 1U << 20U);
  EXPECT_EQ(of_zstd.code, base::Code::kTooLarge) << of_zstd.error;
  EXPECT_LT(of_zstd.count, 300U << 20U);
  Repeating gzip(Gzip(zeros), 1000);
  const Outcome of_gzip = Decompress(gzip, 1U << 20U);
  EXPECT_EQ(of_gzip.code, base::Code::kTooLarge) << of_gzip.error;
  EXPECT_LT(of_gzip.count, 300U << 20U);
}

TEST(DecompressorTest, WhatShrinksWellAndIsSmallIsNoBomb) {
  EXPECT_EQ(Decompress(Zstd(std::string(50U << 20U, '\0')), 1U << 20U).error, "");
}

}  // namespace
}  // namespace skerry::archive
