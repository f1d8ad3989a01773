#include <memory>

#include "cli/command.hpp"
#include "cli/terminal.hpp"
#include "config/show.hpp"

namespace skerry::cli {
namespace {

base::Result<int> Show(const Context& context, bool json) {
  SKERRY_ASSIGN_OR_RETURN(const config::Loaded loaded, context.LoadConfig());
  Print(json ? config::ShowJson(loaded) + "\n" : config::ShowText(loaded));
  return 0;
}

}  // namespace

Command ConfigCommand(const Context& context) {
  auto json = std::make_shared<bool>(false);
  return {.name = "config",
          .description = "Look at the configuration",
          .commands = {{.name = "show",
                        .description = "Print the effective configuration and where each value came from",
                        .options = {{.names = "--json", .description = "As an object", .to = json.get()}},
                        .action = [=, &context] { return Show(context, *json); }}}};
}

}  // namespace skerry::cli
