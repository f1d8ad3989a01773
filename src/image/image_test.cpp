#include "image/image.hpp"

#include <gtest/gtest.h>

namespace skerry::image {
namespace {

Image Example() {
  return {.name = "debian:12",
          .id = std::string(64, 'a'),
          .source = SourceKind::kOci,
          .digest = "sha256:" + std::string(64, 'b'),
          .size = 12'345'678'901,
          .entries = 7,
          .skipped = 3,
          .created = 1'700'000'000,
          .environment = {"PATH=/bin", "A=b=c\n\"ä"},
          .working_directory = "/srv"};
}

TEST(ImageTest, ARecordKeepsEverything) {
  const auto image = ParseRecord(ToRecord(Example()));
  ASSERT_TRUE(image.has_value()) << image.error().message;
  EXPECT_EQ(image->name, "debian:12");
  EXPECT_EQ(image->id, Example().id);
  EXPECT_EQ(image->source, SourceKind::kOci);
  EXPECT_EQ(image->digest, Example().digest);
  EXPECT_EQ(image->size, 12'345'678'901U);
  EXPECT_EQ(image->entries, 7U);
  EXPECT_EQ(image->skipped, 3U);
  EXPECT_EQ(image->created, 1'700'000'000);
  EXPECT_EQ(image->environment, Example().environment);
  EXPECT_EQ(image->working_directory, "/srv");
}

TEST(ImageTest, AnIdThatCouldBeAPathIsRefused) {
  for (const char* id : {"", "..", "../../../etc", "aaaa"}) {
    Image image = Example();
    image.id = id;
    EXPECT_FALSE(ParseRecord(ToRecord(image)).has_value()) << id;
  }
}

TEST(ImageTest, WhatIsNoRecordIsRefused) {
  for (const char* text : {"", "{", "[]", "null", "{}", R"({"name": 1})"})
    EXPECT_FALSE(ParseRecord(text).has_value()) << text;
}

}  // namespace
}  // namespace skerry::image
