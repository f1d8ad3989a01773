#include "text/text_encoding.hpp"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace skerry::text {
namespace {

using namespace std::string_literals;

TEST(TextEncodingTest, EveryEncodingIsTold) {
  struct Row {
    std::string file;
    Encoding encoding;
    std::string text;
  };
  const std::vector<Row> rows = {
      {"", Encoding::kUtf8, ""},
      {"gr\xC3\xBC\xC3\x9F", Encoding::kUtf8, "grüß"},
      {"\xEF\xBB\xBFx", Encoding::kUtf8WithMark, "x"},
      {"\xFF\xFE\xFC\0\x3D\xD8\x00\xDE"s, Encoding::kUtf16Little, "ü😀"},
      {"\xFE\xFF\0\xFC\xD8\x3D\xDE\x00"s, Encoding::kUtf16Big, "ü😀"},
      {"\xFF\xFE", Encoding::kUtf16Little, ""},
      {"gr\xFC\xDF", Encoding::kBytes, "gr\xFC\xDF"},
      {"\xFF\xFEx", Encoding::kBytes, "\xFF\xFEx"},                        // an odd number of bytes
      {"\xFF\xFE\x3D\xD8x\0"s, Encoding::kBytes, "\xFF\xFE\x3D\xD8x\0"s},  // half a pair in front
      {"\xFF\xFE\x3D\xD8"s, Encoding::kBytes, "\xFF\xFE\x3D\xD8"s},        // half a pair at the end
      {"\xFF\xFE\x00\xDEx\0"s, Encoding::kBytes, "\xFF\xFE\x00\xDEx\0"s},  // the other half
      {"\xFF\xFE\0\0x\0\0\0"s, Encoding::kBytes, "\xFF\xFE\0\0x\0\0\0"s},  // UTF-32
      {"\xEF\xBB\xBF\xFF", Encoding::kBytes, "\xEF\xBB\xBF\xFF"},
  };
  for (const Row& row : rows) {
    const DecodedText decoded = Decode(row.file);
    EXPECT_EQ(decoded.encoding, row.encoding) << testing::PrintToString(row.file);
    EXPECT_EQ(decoded.text, row.text);
    EXPECT_EQ(Encode(decoded.text, decoded.encoding), row.file);
  }
}

TEST(TextEncodingTest, AnyBytesComeBackAsTheyWere) {
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string file = round % 4 == 0 ? "\xFF\xFE" : round % 4 == 1 ? "\xFE\xFF" : round % 4 == 2 ? "\xEF\xBB\xBF" : "";
    const std::size_t size = random() % 12;
    for (std::size_t i = 0; i < size; ++i)
      file += static_cast<char>(random() % 3 == 0 ? 0xD8 + random() % 8 : random());
    const DecodedText decoded = Decode(file);
    ASSERT_EQ(Encode(decoded.text, decoded.encoding), file);
  }
}

TEST(TextEncodingTest, EveryCharacterSurvivesUtf16) {
  std::string all = "\xFE\xFF";
  for (unsigned unit = 1; unit < 0x10000; ++unit) {
    if (unit >= 0xD800 && unit <= 0xDFFF) continue;
    all += {static_cast<char>(unit >> 8U), static_cast<char>(unit & 0xFFU)};
  }
  all += "\xD8\x00\xDC\x00\xDB\xFF\xDF\xFF"s;
  const DecodedText decoded = Decode(all);
  EXPECT_EQ(decoded.encoding, Encoding::kUtf16Big);
  EXPECT_EQ(Encode(decoded.text, decoded.encoding), all);
}

TEST(TextEncodingTest, OnlyAsciiGoesIntoBytes) {
  EXPECT_EQ(EncodingObstacle("plain", Encoding::kBytes), "");
  EXPECT_NE(EncodingObstacle("ü", Encoding::kBytes), "");
  EXPECT_EQ(EncodingObstacle("ü", Encoding::kUtf16Little), "");
  EXPECT_NE(EncodingObstacle("\xFC", Encoding::kUtf8), "");
}

}  // namespace
}  // namespace skerry::text
