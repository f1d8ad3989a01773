// docs/configuration.md says what the schema says.
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/schema.hpp"
#include "config/scratch_home.hpp"

namespace skerry::config {
namespace {

using testing::HasSubstr;

std::string Page() {
  std::ifstream file(SKERRY_CONFIGURATION_PAGE);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string AllowedIn(const Node& node) {
  if (node.kind == Kind::kInteger) return std::to_string(node.minimum) + " to " + std::to_string(node.maximum);
  if (node.kind == Kind::kBoolean) return "true, false";
  if (node.kind == Kind::kTextList) return "list";
  std::string choices;
  for (const std::string& choice : node.text.choices) choices += (choices.empty() ? "" : ", ") + choice;
  return choices.empty() ? "text" : choices;
}

TEST(ReferencePageTest, EveryKeyStandsWithItsDefaultAndWhatIsAllowed) {
  const std::string page = Page();
  const Node root = EmbeddedSchema().value();
  for (const Node* node : Settings(root)) {
    const std::string row =
        "| `" + node->path + "` | `" + node->default_value.dump() + "` | " + AllowedIn(*node) + " | ";
    EXPECT_TRUE(page.contains(row)) << row;
  }
}

TEST(ReferencePageTest, EveryRowIsAKey) {
  const std::string page = Page();
  const Node root = EmbeddedSchema().value();
  constexpr std::string_view kStart = "| `sandbox.";
  for (auto at = page.find(kStart); at != std::string::npos; at = page.find(kStart, at + 1)) {
    const std::string path = page.substr(at + 3, page.find('`', at + 3) - at - 3);
    EXPECT_NE(FindNode(root, path), nullptr) << path;
  }
}

TEST(ReferencePageTest, ExampleIsAccepted) {
  constexpr std::string_view kFence = "```jsonc\n";
  const std::string page = Page();
  const auto start = page.find(kFence);
  ASSERT_NE(start, std::string::npos);
  const std::string example = page.substr(start + kFence.size(), page.find("```", start + 1) - start - kFence.size());
  EXPECT_EQ(ProblemWith(example), "");
}

}  // namespace
}  // namespace skerry::config
