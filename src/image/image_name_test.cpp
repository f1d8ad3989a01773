#include "image/image_name.hpp"

#include <gtest/gtest.h>

#include "archive/error_of.hpp"

namespace skerry::image {
namespace {

using archive::CodeOf;

TEST(ImageNameTest, GoodNamesComeBackFromTheirFile) {
  for (const std::string& name :
       {std::string("a"), std::string("debian:12"), std::string("team/tools:2024-05_x.y"), std::string("a/../b"),
        std::string("0"), std::string(128, 'a'), std::string("a//b::c")}) {
    EXPECT_TRUE(CheckImageName(name).has_value()) << name;
    const std::string file = FileOfName(name);
    EXPECT_EQ(file.find('/'), std::string::npos);
    EXPECT_LT(file.size(), 255U);
    EXPECT_EQ(NameOfFile(file), name);
  }
}

TEST(ImageNameTest, OtherNamesAreRefused) {
  for (const std::string& name :
       {std::string(), std::string("-a"), std::string(".a"), std::string("/a"), std::string(":a"), std::string("_a"),
        std::string("A"), std::string("a b"), std::string("a%2Fb"), std::string("ä"), std::string("a\n"),
        std::string("a\0b", 3), std::string(129, 'a'), "a" + std::string(127, '/'), std::string("..")})
    EXPECT_EQ(CodeOf(CheckImageName(name)), base::Code::kInvalidArgument) << name;
}

TEST(ImageNameTest, FilesThatKeepNoNameHaveNone) {
  for (const char* file : {"", ".json", "a", "a.txt", ".new-abc", ".new-abc.json", "A.json", "a%2f.json", "a%.json"})
    EXPECT_FALSE(NameOfFile(file).has_value()) << file;
}

}  // namespace
}  // namespace skerry::image
