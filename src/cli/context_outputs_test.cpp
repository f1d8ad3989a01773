#include "cli/context_outputs.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "os/files.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

TEST(ContextOutputsTest, PicturesAndHtmlBecomeFiles) {
  const support::TemporaryDirectory directory;
  const Json result = Json::parse(R"({"context": "a", "cell": 3, "outputs": [
      {"kind": "display", "data": {"image/png": "iVBORw==", "text/plain": "<Figure>"}},
      {"kind": "result", "data": {"text/html": "<b>x</b>", "image/svg+xml": "<svg/>"}}]})");
  const std::string path = (directory.path() / "new").string();
  ASSERT_TRUE(SaveOutputs(result, path).has_value());
  EXPECT_EQ(os::ReadFile(path + "/a-3-1.png", 100).value(), "\x89PNG");
  EXPECT_EQ(os::ReadFile(path + "/a-3-2.html", 100).value(), "<b>x</b>");
  EXPECT_EQ(os::ReadFile(path + "/a-3-2.svg", 100).value(), "<svg/>");
  EXPECT_FALSE(std::filesystem::exists(path + "/a-3-1.html"));
}

TEST(ContextOutputsTest, ALinkOfThatNameIsReplacedAndNotFollowed) {
  const support::TemporaryDirectory directory;
  const std::string target = (directory.path() / "target").string();
  std::filesystem::create_symlink(target, directory.path() / "a-1-1.svg");
  const Json result = Json::parse(
      R"({"context": "a", "cell": 1, "outputs": [{"kind": "result", "data": {"image/svg+xml": "<svg/>"}}]})");
  ASSERT_TRUE(SaveOutputs(result, directory.path().string()).has_value());
  EXPECT_FALSE(std::filesystem::exists(target));
  EXPECT_EQ(os::ReadFile((directory.path() / "a-1-1.svg").string(), 100).value(), "<svg/>");
}

TEST(ContextOutputsTest, WhatIsNoBase64IsLeftOut) {
  const support::TemporaryDirectory directory;
  const Json result =
      Json::parse(R"({"context": "a", "cell": 1, "outputs": [{"kind": "result", "data": {"image/png": "***"}}]})");
  ASSERT_TRUE(SaveOutputs(result, directory.path().string()).has_value());
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

}  // namespace
}  // namespace skerry::cli
