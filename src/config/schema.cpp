#include "config/schema.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "config/schema_text.hpp"
#include "config/spelling.hpp"

namespace skerry::config {
namespace {

// Keeps the order of the keys, which is the order in which `config show` prints them.
using SchemaJson = nlohmann::ordered_json;

constexpr std::string_view kReferenceStart = "#/properties/";

base::Result<Node> Compile(const SchemaJson& schema, std::string name, std::string path);

std::unexpected<base::Error> Broken(std::string_view path, const std::string& problem) {
  return base::Err(base::Code::kInternal, "config schema: " + std::string(path) + ": " + problem);
}

bool IsEnforced(std::string_view keyword) {
  static constexpr std::array<std::string_view, 19> kKeywords = {
      "$schema", "title",   "description", "type",      "properties", "additionalProperties",
      "default", "minimum", "maximum",     "minLength", "maxLength",  "pattern",
      "not",     "enum",    "items",       "maxItems",  "writeOnly",  "deprecated",
      "$ref"};
  return std::ranges::find(kKeywords, keyword) != kKeywords.end();
}

// `not` is enforced for one thing only: characters that a text must not contain.
bool IsForbiddenPattern(const SchemaJson& value) {
  return value.is_object() && value.size() == 1 && value.contains("pattern");
}

base::Status CheckKeywords(const SchemaJson& schema, std::string_view path) {
  if (!schema.is_object()) return Broken(path, "not an object");
  for (const auto& [keyword, value] : schema.items()) {
    const bool enforced = IsEnforced(keyword) && (keyword != "not" || IsForbiddenPattern(value));
    if (!enforced) return Broken(path, "keyword " + keyword + " is not enforced");
  }
  return {};
}

base::Result<Kind> KindOf(const SchemaJson& schema, std::string_view path) {
  static const std::map<std::string, Kind, std::less<>> kKinds = {{"object", Kind::kSection},
                                                                  {"integer", Kind::kInteger},
                                                                  {"boolean", Kind::kBoolean},
                                                                  {"string", Kind::kText},
                                                                  {"array", Kind::kTextList}};
  if (schema.contains("$ref")) return Kind::kSynonym;
  const auto found = kKinds.find(schema.value("type", ""));
  if (found == kKinds.end()) return Broken(path, "type is missing or unknown");
  return found->second;
}

// "#/properties/a/properties/b" → "a.b".
base::Result<std::string> ReferencedPath(std::string_view reference, std::string_view path) {
  constexpr std::string_view kStep = "/properties/";
  if (!reference.starts_with(kReferenceStart)) return Broken(path, "$ref leads out of the properties");
  std::string target(reference.substr(kReferenceStart.size()));
  for (auto at = target.find(kStep); at != std::string::npos; at = target.find(kStep)) {
    target.replace(at, kStep.size(), ".");
  }
  return target;
}

TextRule TextRuleOf(const SchemaJson& schema) {
  TextRule rule;
  rule.min_length = schema.value("minLength", rule.min_length);
  rule.max_length = schema.value("maxLength", rule.max_length);
  rule.pattern = schema.value("pattern", "");
  rule.forbidden = schema.value(SchemaJson::json_pointer("/not/pattern"), "");
  rule.choices = schema.value("enum", std::vector<std::string>());
  return rule;
}

base::Status CompileSection(const SchemaJson& schema, Node& node) {
  if (schema.value("additionalProperties", true)) return Broken(node.path, "additionalProperties must be false");
  for (const auto& [name, child] : schema.value("properties", SchemaJson::object()).items()) {
    SKERRY_ASSIGN_OR_RETURN(Node compiled, Compile(child, name, JoinPath(node.path, name)));
    node.children.push_back(std::move(compiled));
  }
  return {};
}

base::Status CompileList(const SchemaJson& schema, Node& node) {
  const SchemaJson items = schema.value("items", SchemaJson::object());
  SKERRY_RETURN_IF_ERROR(CheckKeywords(items, node.path));
  if (items.value("type", "") != "string") return Broken(node.path, "items must be strings");
  node.text = TextRuleOf(items);
  node.max_items = schema.value("maxItems", std::numeric_limits<std::size_t>::max());
  return {};
}

base::Status CompileKind(const SchemaJson& schema, Node& node) {
  switch (node.kind) {
    case Kind::kSection:
      return CompileSection(schema, node);
    case Kind::kTextList:
      return CompileList(schema, node);
    case Kind::kSynonym: {
      SKERRY_ASSIGN_OR_RETURN(node.synonym_of, ReferencedPath(schema.value("$ref", ""), node.path));
      return {};
    }
    case Kind::kInteger:
      node.minimum = schema.value("minimum", std::numeric_limits<std::int64_t>::min());
      node.maximum = schema.value("maximum", std::numeric_limits<std::int64_t>::max());
      return {};
    case Kind::kText:
      node.text = TextRuleOf(schema);
      return {};
    case Kind::kBoolean:
      return {};
  }
  return Broken(node.path, "unknown kind");
}

base::Result<Node> Compile(const SchemaJson& schema, std::string name, std::string path) {
  SKERRY_RETURN_IF_ERROR(CheckKeywords(schema, path));
  Node node;
  node.name = std::move(name);
  node.path = std::move(path);
  SKERRY_ASSIGN_OR_RETURN(node.kind, KindOf(schema, node.path));
  node.is_secret = schema.value("writeOnly", false);
  if (schema.contains("default")) node.default_value = Json(schema.at("default"));
  SKERRY_RETURN_IF_ERROR(CompileKind(schema, node));
  return node;
}

void CollectSettings(const Node& node, std::vector<const Node*>& settings) {
  if (!node.default_value.is_null()) settings.push_back(&node);
  for (const Node& child : node.children) CollectSettings(child, settings);
}

}  // namespace

base::Result<Node> EmbeddedSchema() {
  return CompileSchema(SchemaText());
}

base::Result<Node> CompileSchema(std::string_view text) {
  try {
    const SchemaJson schema = SchemaJson::parse(text);
    return Compile(schema, "", "");
  } catch (const nlohmann::json::exception& problem) {
    return Broken("", problem.what());
  }
}

const Node* FindChild(const Node& section, std::string_view key) {
  const auto has_key = [key](const Node& child) { return child.name == key || SnakeCase(child.name) == key; };
  const auto found = std::ranges::find_if(section.children, has_key);
  return found == section.children.end() ? nullptr : &*found;
}

const Node* FindNode(const Node& root, std::string_view path) {
  const Node* node = &root;
  while (node != nullptr && !path.empty()) {
    const auto dot = std::min(path.find('.'), path.size());
    node = FindChild(*node, path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return node;
}

std::vector<std::string> ChildNames(const Node& section) {
  std::vector<std::string> names;
  for (const Node& child : section.children) {
    if (child.kind != Kind::kSynonym) names.push_back(child.name);
  }
  std::ranges::sort(names);
  return names;
}

std::vector<const Node*> Settings(const Node& root) {
  std::vector<const Node*> settings;
  CollectSettings(root, settings);
  return settings;
}

std::string JoinPath(std::string_view parent, std::string_view name) {
  const std::string_view shown = name.empty() ? "\"\"" : name;
  if (parent.empty()) return std::string(shown);
  return std::string(parent).append(".").append(shown);
}

}  // namespace skerry::config
