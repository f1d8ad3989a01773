#include "json/base64.hpp"

#include <gtest/gtest.h>

namespace skerry::json {
namespace {

TEST(Base64Test, KnownValues) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foo"), "Zm9v");
  EXPECT_EQ(Base64("foobar"), "Zm9vYmFy");
}

TEST(FromBase64Test, ReadsWhatBase64Writes) {
  for (const std::string& bytes : {std::string(), std::string("f"), std::string("fo"), std::string("\0\xff\x80\n", 4)})
    EXPECT_EQ(FromBase64(Base64(bytes)), bytes);
  EXPECT_EQ(FromBase64("Zm9v\nYmFy\n"), "foobar");
}

TEST(FromBase64Test, RefusesWhatIsNone) {
  for (const char* text : {"Zg=a", "Z", "Zm9v*", "Z m9v"}) EXPECT_EQ(FromBase64(text), std::nullopt) << text;
}

}  // namespace
}  // namespace skerry::json
