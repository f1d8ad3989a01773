// skerry backends: which are usable here and, if not, why.
#include <chrono>
#include <memory>

#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "cli/command.hpp"
#include "cli/terminal.hpp"
#include "core/backend_registry.hpp"
#include "json/text.hpp"

namespace skerry::cli {
namespace {

constexpr std::chrono::seconds kPatience{30};  // for each backend

base::Result<int> List(const Context& context, bool json) {
  SKERRY_ASSIGN_OR_RETURN(const config::Loaded loaded, context.LoadConfig());
  SKERRY_ASSIGN_OR_RETURN(const auto registry, context.Backends(loaded.config.sandbox));
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  std::string text;
  for (core::Backend* backend : registry->All()) {
    const core::Availability availability = backend->Probe(base::Deadline::After(kPatience));
    const std::string name(backend->Name());
    const bool is_default = name == loaded.config.sandbox.backend;
    rows.push_back({{"name", name},
                    {"usable", availability.usable},
                    {"isolation", core::NameOf(backend->Can().strength)},
                    {"default", is_default},
                    {"detail", availability.detail}});
    text += name + std::string(name.size() < 12 ? 12 - name.size() : 1, ' ') +
            (availability.usable ? "usable      " : "not usable  ") + base::Printable(availability.detail) +
            (is_default ? "  (default)" : "") + "\n";
  }
  Print(json ? json::IndentedText(rows) : text);
  return 0;
}

}  // namespace

Command BackendsCommand(const Context& context) {
  auto json = std::make_shared<bool>(false);
  return {.name = "backends",
          .description = "List the sandboxes that are usable here and, if not, why",
          .options = {{.names = "--json", .description = "As an array of objects", .to = json.get()}},
          .action = [=, &context] { return List(context, *json); }};
}

}  // namespace skerry::cli
