#include "config/schema.hpp"

#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include "config/check.hpp"
#include "config/schema_text.hpp"

namespace skerry::config {
namespace {

using testing::HasSubstr;

void ExpectDescriptions(const nlohmann::json& schema, std::string_view path) {
  for (const auto& [name, child] : schema.value("properties", nlohmann::json::object()).items()) {
    EXPECT_FALSE(child.value("description", "").empty()) << path << "." << name;
    ExpectDescriptions(child, JoinPath(path, name));
  }
}

void CollectWithoutDefault(const Node& node, std::vector<std::string>& paths) {
  const bool is_value = node.kind != Kind::kSection && node.kind != Kind::kSynonym;
  if (is_value && node.default_value.is_null()) paths.push_back(node.path);
  for (const Node& child : node.children) CollectWithoutDefault(child, paths);
}

TEST(SchemaTest, EmbeddedTextIsTheWholeFile) {
  EXPECT_TRUE(SchemaText().starts_with("{\n"));
  EXPECT_TRUE(SchemaText().ends_with("}\n"));
  EXPECT_TRUE(EmbeddedSchema().has_value());
}

TEST(SchemaTest, EveryPropertyIsDescribed) {
  ExpectDescriptions(nlohmann::json::parse(SchemaText()), "");
}

TEST(SchemaTest, EveryDefaultIsAllowed) {
  const Node root = EmbeddedSchema().value();
  for (const Node* node : Settings(root)) {
    EXPECT_EQ(CheckValue(*node, node->default_value).value_or(Json()), node->default_value) << node->path;
  }
}

TEST(SchemaTest, EveryPatternIsARegularExpression) {
  const Node root = EmbeddedSchema().value();
  for (const Node* node : Settings(root)) {
    for (const std::string& pattern : {node->text.pattern, node->text.forbidden}) {
      EXPECT_TRUE(re2::RE2(pattern, re2::RE2::Latin1).ok()) << node->path;
      EXPECT_NO_THROW(std::regex{pattern}) << node->path;
    }
  }
}

TEST(SchemaTest, PatternsRepeatInShortTextsOnly) {
  const Node root = EmbeddedSchema().value();
  for (const Node* node : Settings(root)) {
    const bool repeats = (node->text.pattern + node->text.forbidden).find_first_of("*+{") != std::string::npos;
    EXPECT_TRUE(!repeats || node->text.max_length <= 512) << node->path;
  }
}

TEST(SchemaTest, EveryTextIsBoundedOrAChoice) {
  const Node root = EmbeddedSchema().value();
  for (const Node* node : Settings(root)) {
    if (node->kind != Kind::kText && node->kind != Kind::kTextList) continue;
    EXPECT_TRUE(node->text.max_length <= 4096 || !node->text.choices.empty()) << node->path;
  }
}

TEST(SchemaTest, ExactlyKeysAndWhatSignsAreSecret) {
  const std::set<std::string> secret = {"apiKey", "webhookSecret", "otlpHeaders"};
  const Node root = EmbeddedSchema().value();
  for (const Node* node : Settings(root)) EXPECT_EQ(node->is_secret, secret.contains(node->name)) << node->path;
}

TEST(SchemaTest, EverySynonymLeadsToTheSectionOfItsName) {
  const Node root = EmbeddedSchema().value();
  int synonyms = 0;
  for (const Node& child : FindNode(root, "sandbox")->children) {
    if (child.kind != Kind::kSynonym) continue;
    ++synonyms;
    ASSERT_NE(FindNode(root, child.synonym_of), nullptr) << child.name;
    EXPECT_EQ(FindNode(root, child.synonym_of)->path, "sandbox.backends." + child.name);
  }
  EXPECT_EQ(synonyms, 4);
}

TEST(SchemaTest, OnlyTheAddressOfTheSchemaHasNoDefault) {
  std::vector<std::string> paths;
  CollectWithoutDefault(EmbeddedSchema().value(), paths);
  EXPECT_THAT(paths, testing::ElementsAre("$schema"));
}

TEST(SchemaTest, ChildIsFoundByBothSpellingsOnly) {
  const Node root = EmbeddedSchema().value();
  const Node& limits = *FindNode(root, "sandbox.limits");
  EXPECT_EQ(FindChild(limits, "maxPids"), FindChild(limits, "max_pids"));
  EXPECT_NE(FindChild(limits, "maxPids"), nullptr);
  for (const char* other : {"MaxPids", "maxpids", "max-pids", "max_Pids", ""})
    EXPECT_EQ(FindChild(limits, other), nullptr);
}

TEST(SchemaTest, PromisesThatNobodyKeepsAreRefused) {
  struct Row {
    const char* schema;
    const char* problem;
  };
  for (const Row& row :
       {Row{R"({"type":"object"})", "additionalProperties must be false"},
        Row{R"({"type":"number"})", "type is missing or unknown"}, Row{R"({})", "type is missing or unknown"},
        Row{R"({"type":"integer","multipleOf":2})", "keyword multipleOf is not enforced"},
        Row{R"({"type":"array","items":{"type":"integer"}})", "items must be strings"},
        Row{R"({"type":"array","items":{"type":"string","format":"uri"}})", "keyword format is not enforced"},
        Row{R"({"type":"string","not":{"minLength":2}})", "keyword not is not enforced"},
        Row{R"({"$ref":"other.json"})", "$ref leads out"}, Row{R"({"type":1})", "type must be string"},
        Row{"{", "parse error"}, Row{"[]", "not an object"}}) {
    const auto compiled = CompileSchema(row.schema);
    ASSERT_FALSE(compiled.has_value()) << row.schema;
    EXPECT_EQ(compiled.error().code, base::Code::kInternal);
    EXPECT_THAT(compiled.error().message, HasSubstr(row.problem)) << row.schema;
  }
}

}  // namespace
}  // namespace skerry::config
