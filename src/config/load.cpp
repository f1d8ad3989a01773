#include "config/load.hpp"

#include <utility>

#include "base/printable.hpp"
#include "config/bind.hpp"
#include "config/check.hpp"
#include "config/config_file.hpp"
#include "config/document.hpp"
#include "config/layer.hpp"
#include "config/schema.hpp"
#include "config/variables.hpp"

namespace skerry::config {
namespace {

constexpr std::string_view kMask = "********";

base::Result<Layer> ReadText(const Node& root, std::string_view text, const std::string& origin) {
  SKERRY_ASSIGN_OR_RETURN(const Json document, ParseDocument(text));
  return ReadLayer(root, document, origin);
}

base::Result<Layer> ReadFileLayer(const Node& root, const Sources& sources) {
  if (!sources.config_path && sources.home.empty()) return Layer();
  const std::string name = sources.config_path.value_or(kDefaultFile);
  const std::string path = ExpandHome(name, sources.home);
  SKERRY_ASSIGN_OR_RETURN(const std::optional<std::string> text, ReadConfigFile(path));
  if (!text && sources.config_path) return Refused(path, "no such file");
  if (!text) return Layer();
  base::Result<Layer> layer = ReadText(root, *text, "file " + name);
  if (!layer) return Refused(path, layer.error().message);
  return layer;
}

base::Result<Layer> ReadLayers(const Node& root, const Sources& sources) {
  Layer layers = DefaultLayer(root);
  SKERRY_ASSIGN_OR_RETURN(Layer file, ReadFileLayer(root, sources));
  Overlay(layers, std::move(file));
  for (const std::string_view prefix : {kOlderPrefix, kOwnPrefix}) {
    SKERRY_ASSIGN_OR_RETURN(Layer variables, ReadVariables(root, prefix, sources.environment));
    Overlay(layers, std::move(variables));
  }
  SKERRY_ASSIGN_OR_RETURN(Layer flags, ReadOverrides(root, sources.overrides));
  Overlay(layers, std::move(flags));
  return layers;
}

// The one rule between two keys, which a JSON schema cannot state.
base::Status CheckPool(const Pool& pool, const Layer& layers) {
  constexpr std::string_view kMinimum = "sandbox.pool.minInstances";
  if (pool.min_instances <= pool.max_instances) return {};
  return Refused(kMinimum, std::to_string(pool.min_instances) + " (" + layers.find(kMinimum)->second.origin +
                               ") is more than sandbox.pool.maxInstances, which is " +
                               std::to_string(pool.max_instances));
}

std::string ShownValue(const Node& node, const Json& value) {
  const bool is_set = value.is_string() ? !value.get_ref<const std::string&>().empty() : !value.empty();
  if (node.is_secret && is_set) return Json(kMask).dump();
  return value.dump();
}

std::vector<Entry> EntriesOf(const Node& root, const Layer& layers) {
  std::vector<Entry> entries;
  for (const Node* node : Settings(root)) {
    const Setting& setting = layers.find(node->path)->second;
    entries.push_back({node->path, ShownValue(*node, setting.value), setting.origin, node->is_secret});
  }
  return entries;
}

base::Result<Loaded> LoadUnprintable(const Sources& sources) {
  SKERRY_ASSIGN_OR_RETURN(const Node root, EmbeddedSchema());
  SKERRY_ASSIGN_OR_RETURN(const Layer layers, ReadLayers(root, sources));
  SKERRY_ASSIGN_OR_RETURN(Config config, Bind(layers));
  SKERRY_RETURN_IF_ERROR(CheckPool(config.sandbox.pool, layers));
  return Loaded{std::move(config), EntriesOf(root, layers)};
}

}  // namespace

base::Result<Loaded> Load(const Sources& sources) {
  base::Result<Loaded> loaded = LoadUnprintable(sources);
  // Here, so that no message escapes it: keys, values and file names are all foreign text.
  if (!loaded) return base::Err(loaded.error().code, base::Printable(loaded.error().message));
  return loaded;
}

}  // namespace skerry::config
