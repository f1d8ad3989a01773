#include "config/layer.hpp"

#include <utility>

#include "base/printable.hpp"
#include "base/spelling.hpp"
#include "config/check.hpp"

namespace skerry::config {
namespace {

class Walker {
 public:
  Walker(const Node& root, std::string_view origin) : root_(root), origin_(origin) {}

  base::Status Visit(const Node& node, const Json& value) {
    return node.kind == Kind::kSection ? VisitSection(node, value) : VisitValue(node, value);
  }

  Layer TakeLayer() && { return std::move(layer_); }

 private:
  base::Status VisitSection(const Node& section, const Json& value) {
    if (!value.is_object())
      return Refused(section.path, std::string(value.type_name()) + " instead of an object, allowed are the keys: " +
                                       base::Joined(ChildNames(section)));
    std::map<const Node*, std::string> spellings;
    for (const auto& [key, item] : value.items()) {
      SKERRY_ASSIGN_OR_RETURN(const Node* child, ResolveKey(root_, section, key));
      const auto [other, is_first] = spellings.emplace(child, key);
      if (!is_first) return Refused(child->path, "given twice, as " + other->second + " and as " + key);
      SKERRY_RETURN_IF_ERROR(Visit(*child, item));
    }
    return {};
  }

  base::Status VisitValue(const Node& node, const Json& value) {
    SKERRY_ASSIGN_OR_RETURN(Json checked, CheckValue(node, value));
    if (node.default_value.is_null()) return {};
    const bool is_first = layer_.emplace(node.path, Setting{std::move(checked), std::string(origin_)}).second;
    if (!is_first) return Refused(node.path, "given twice, once under the older name of its section");
    return {};
  }

  const Node& root_;
  std::string_view origin_;
  Layer layer_;
};

}  // namespace

Layer DefaultLayer(const Node& root) {
  Layer layer;
  for (const Node* node : Settings(root)) layer.emplace(node->path, Setting{node->default_value, "default"});
  return layer;
}

base::Result<Layer> ReadLayer(const Node& root, const Json& document, std::string_view origin) {
  Walker walker(root, origin);
  SKERRY_RETURN_IF_ERROR(walker.Visit(root, document));
  return std::move(walker).TakeLayer();
}

base::Result<const Node*> ResolveKey(const Node& root, const Node& section, std::string_view key) {
  const Node* child = FindChild(section, key);
  if (child != nullptr && child->kind == Kind::kSynonym) child = FindNode(root, child->synonym_of);
  if (child != nullptr) return child;
  const std::vector<std::string> names = ChildNames(section);
  return Refused(JoinPath(section.path, base::Excerpt(key)),
                 "unknown key" + base::DidYouMean(key, names) + ", allowed are: " + base::Joined(names));
}

void Overlay(Layer& lower, Layer upper) {
  for (auto& [path, setting] : upper) lower.insert_or_assign(path, std::move(setting));
}

}  // namespace skerry::config
