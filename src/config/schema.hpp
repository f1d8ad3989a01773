// api/config.schema.json as a tree. Files, variables and flags are all read by walking it, so a key exists, has a type
// and a default in one place only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.hpp"

namespace skerry::config {

using Json = nlohmann::json;

enum class Kind { kSection, kInteger, kBoolean, kText, kTextList, kSynonym };

// The rules for a text, or for every item of a list. Lengths count characters, not bytes.
struct TextRule {
  std::size_t min_length = 0;
  std::size_t max_length = std::numeric_limits<std::size_t>::max();
  std::string pattern;               // a regular expression that must be found in the text; empty: anything
  std::string forbidden;             // one that must not be found; empty: nothing
  std::vector<std::string> choices;  // empty: anything
};

struct Node {
  std::string name;  // camelCase
  std::string path;  // from the top, with dots; empty for the top itself
  Kind kind = Kind::kSection;
  std::int64_t minimum = 0;  // of an integer
  std::int64_t maximum = 0;
  TextRule text;
  std::size_t max_items = 0;
  bool is_secret = false;
  Json default_value;          // null: none, such a value is checked and then forgotten (`$schema`)
  std::vector<Node> children;  // of a section, in the order of the schema
  std::string synonym_of;      // path of the node that is meant
};

// The tree of the schema inside the binary.
base::Result<Node> EmbeddedSchema();

// The tree of a schema text. A keyword that the program does not enforce is refused: the schema must not promise more
// than is checked.
base::Result<Node> CompileSchema(std::string_view text);

// The child of a section by either spelling of its name, null when there is none. May be a synonym.
const Node* FindChild(const Node& section, std::string_view key);

// The node with this canonical path; null when there is none.
const Node* FindNode(const Node& root, std::string_view path);

// Names of the children but the synonyms, sorted.
std::vector<std::string> ChildNames(const Node& section);

// Every node with a default, in the order of the schema.
std::vector<const Node*> Settings(const Node& root);

// "a" and "b" → "a.b"; the top has the empty path, an empty name is shown as "".
std::string JoinPath(std::string_view parent, std::string_view name);

}  // namespace skerry::config
