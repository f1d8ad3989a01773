#include <memory>

#include "cli/command.hpp"
#include "cli/terminal.hpp"

namespace skerry::cli {

Command VersionCommand() {
  auto json = std::make_shared<bool>(false);
  return {.name = "version",
          .description = "Print the version",
          .options = {{.names = "--json", .description = "As an object", .to = json.get()}},
          .action = [json] {
            Print(*json ? "{\"version\":\"" SKERRY_VERSION "\"}\n" : "skerry " SKERRY_VERSION "\n");
            return 0;
          }};
}

}  // namespace skerry::cli
