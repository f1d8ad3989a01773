#include "image/whiteout.hpp"

#include <gtest/gtest.h>

namespace skerry::image {
namespace {

struct Row {
  std::string path;
  WhiteoutKind kind;
  std::string parent;
  std::string name;
};

TEST(WhiteoutTest, NamesTellWhatIsHidden) {
  const Row rows[] = {
      {"a", WhiteoutKind::kNone, "", ""},
      {"a/.whx", WhiteoutKind::kNone, "", ""},
      {".wh.a", WhiteoutKind::kName, "", "a"},
      {"./d/.wh.a", WhiteoutKind::kName, "d", "a"},
      {"d/.wh..a", WhiteoutKind::kName, "d", ".a"},
      {"d/.wh.a.wh.b", WhiteoutKind::kName, "d", "a.wh.b"},
      {"d/.wh..wh..opq", WhiteoutKind::kOpaque, "d", ".wh..wh..opq"},
      {".wh..wh..opq", WhiteoutKind::kOpaque, "", ".wh..wh..opq"},
      {".wh..wh.aufs", WhiteoutKind::kIgnored, "", ""},
      {".wh..wh.plnk/1.2", WhiteoutKind::kIgnored, "", ""},
      {"d/.wh..wh.orph/x/y", WhiteoutKind::kIgnored, "", ""},
  };
  for (const Row& row : rows) {
    const auto whiteout = ParseWhiteout(row.path);
    ASSERT_TRUE(whiteout.has_value()) << row.path;
    EXPECT_EQ(whiteout->kind, row.kind) << row.path;
    EXPECT_EQ(whiteout->target.parent, row.parent) << row.path;
    EXPECT_EQ(whiteout->target.name, row.name) << row.path;
  }
}

TEST(WhiteoutTest, NothingOutsideOrWithoutANameCanBeHidden) {
  for (const char* path : {".wh.", "d/.wh.", ".wh..", ".wh...", "d/.wh...", "../.wh.a", "a/../.wh.b", ""})
    EXPECT_FALSE(ParseWhiteout(path).has_value()) << path;
}

}  // namespace
}  // namespace skerry::image
