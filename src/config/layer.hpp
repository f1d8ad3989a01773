// A layer is what one source (file, variables, flags) says: values by canonical path, each with its origin. Layers are
// laid over each other, defaults lowest, flags on top; a list is replaced, not extended.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "config/schema.hpp"

namespace skerry::config {

struct Setting {
  Json value;
  std::string origin;  // "default", "file …", "variable …", "flag …"
};

using Layer = std::map<std::string, Setting, std::less<>>;

Layer DefaultLayer(const Node& root);

// Checks every key and value of a file and gives it its canonical name; the same key in both spellings, or under both
// of its paths, is an error.
base::Result<Layer> ReadLayer(const Node& root, const Json& document, std::string_view origin);

// The node that `key` of `section` means, through a synonym where there is one.
base::Result<const Node*> ResolveKey(const Node& root, const Node& section, std::string_view key);

void Overlay(Layer& lower, Layer upper);

}  // namespace skerry::config
