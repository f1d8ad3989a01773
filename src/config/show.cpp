#include "config/show.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/printable.hpp"

namespace skerry::config {
namespace {

using OrderedJson = nlohmann::ordered_json;

// One long list must not push every origin off the screen.
constexpr std::size_t kWidestValue = 40;

struct Widths {
  std::size_t path = 0;
  std::size_t value = 0;
};

Widths WidthsOf(const std::vector<Entry>& entries) {
  Widths widths;
  for (const Entry& entry : entries) {
    widths.path = std::max(widths.path, entry.path.size());
    widths.value = std::max(widths.value, std::min(entry.value.size(), kWidestValue));
  }
  return widths;
}

std::string Padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

void Put(OrderedJson& values, std::string_view path, const std::string& value) {
  OrderedJson* place = &values;
  for (auto dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    place = &(*place)[std::string(path.substr(0, dot))];
    path.remove_prefix(dot + 1);
  }
  (*place)[std::string(path)] = OrderedJson::parse(value, nullptr, /*allow_exceptions=*/false);
}

}  // namespace

std::string ShowText(const Loaded& loaded) {
  const Widths widths = WidthsOf(loaded.entries);
  std::string text;
  for (const Entry& entry : loaded.entries) {
    text += Padded(entry.path, widths.path) + " = " + Padded(base::Printable(entry.value), widths.value);
    text += "  (" + base::Printable(entry.origin) + ")\n";
  }
  return text;
}

std::string ShowJson(const Loaded& loaded) {
  OrderedJson shown = {{"values", OrderedJson::object()}, {"origins", OrderedJson::object()}};
  for (const Entry& entry : loaded.entries) {
    Put(shown["values"], entry.path, entry.value);
    shown["origins"][entry.path] = entry.origin;
  }
  return shown.dump(2, ' ', /*ensure_ascii=*/true, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace skerry::config
