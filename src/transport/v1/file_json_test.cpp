#include "transport/v1/file_json.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace skerry::transport::v1 {
namespace {

using std::chrono_literals::operator""s;

TEST(FileJsonTest, AFileHasASizeAndALinkATarget) {
  const workspace::Entry file{.path = "a/b",
                              .kind = workspace::EntryKind::kFile,
                              .size = 5,
                              .mode = 0600,
                              .changed_at = core::TimePoint(1'700'000'000s)};
  EXPECT_EQ(EntryToJson(file).dump(),
            R"({"path":"a/b","kind":"file","size":5,"mode":"0600","changed_at":"2023-11-14T22:13:20.000Z",)"
            R"("target":null})");
  const Json link = EntryToJson({.path = "l", .kind = workspace::EntryKind::kLink, .size = 3, .target = "a/b"});
  EXPECT_TRUE(link["size"].is_null());
  EXPECT_EQ(link["target"], "a/b");
}

TEST(FileJsonTest, NamesThatAreNoTextComeWithTheirExactBytes) {
  const Json entry = EntryToJson({.path = "a\xff", .kind = workspace::EntryKind::kLink, .target = "\xfe"});
  EXPECT_EQ(entry["path"], "a\xEF\xBF\xBD");
  EXPECT_EQ(entry["path_base64"], "Yf8=");
  EXPECT_EQ(entry["target_base64"], "/g==");
  const Json report = ImportToJson({.entries = 1, .bytes = 2, .skipped = {"\xff"}});
  EXPECT_EQ(report["skipped"][0]["path_base64"], "/w==");
}

TEST(FileJsonTest, OfARemovedFileNothingIsKnownButItsNameAndKind) {
  EXPECT_EQ(ChangeToJson({.path = "a", .action = core::FileAction::kRemoved, .size = 7, .mode = 0644}).dump(),
            R"({"path":"a","action":"removed","kind":"file","size":null,"mode":null,"sha256":null})");
  EXPECT_EQ(ChangeToJson({.path = "a", .size = 7, .mode = 0755, .sha256 = "ab"}).dump(),
            R"({"path":"a","action":"created","kind":"file","size":7,"mode":"0755","sha256":"ab"})");
}

TEST(FileJsonTest, LinesComeWithTheirPlace) {
  EXPECT_EQ(LinesToJson({.text = "x\ny\n", .first = 3, .count = 2, .more = true}).dump(),
            R"({"text":"x\ny\n","first":3,"count":2,"more":true})");
  EXPECT_EQ(LinesToJson({.text = "\xff"})["text_base64"], "/w==");
}

TEST(FileJsonTest, AnEditThatChangedNothingHasNoChange) {
  EXPECT_EQ(EditedToJson({.report = {.replacements = 2, .insertions = 1}}).dump(),
            R"({"replacements":2,"insertions":1,"change":null})");
}

TEST(FileJsonTest, AFoundFileHasAPathOnlyAndAFoundLineItsPlace) {
  workspace::SearchResult result;
  result.matches.push_back({.path = "a"});
  result.matches.push_back({.path = "b", .line = 4, .column = 2, .text = "xyz", .before = {"w"}, .behind = {}});
  const Json found = SearchToJson(result, std::nullopt);
  EXPECT_EQ(found["matches"][0].dump(), R"({"path":"a"})");
  EXPECT_EQ(found["matches"][1].dump(),
            R"({"path":"b","line":4,"column":2,"text":"xyz","text_column":1,"before":[{"text":"w"}],"behind":[]})");
  EXPECT_EQ(found["complete"], true);
  EXPECT_TRUE(found["next_cursor"].is_null());
  EXPECT_EQ(SearchToJson(result, "c")["next_cursor"], "c");
}

}  // namespace
}  // namespace skerry::transport::v1
