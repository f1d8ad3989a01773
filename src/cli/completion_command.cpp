// skerry completion: scripts that let a shell complete Skerry's commands.
#include <algorithm>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "cli/answer.hpp"
#include "cli/command.hpp"
#include "cli/command_output.hpp"
#include "cli/completion.hpp"
#include "cli/daemon_client.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

// Whether a shell may see the name unquoted. Other names are not offered: a completion must not be a way to make a
// person run something.
bool IsPlain(const std::string& name) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !name.empty() && !name.starts_with('-') &&
         std::ranges::all_of(name, [kPlain](char letter) { return kPlain.contains(letter); });
}

// One name in a line. A completion prints no errors: without a daemon there are no names.
void PrintNames(const Context& context, const std::string& what) {
  auto daemon = DaemonClient::Find(context);
  if (!daemon || (what != "sessions" && what != "approvals")) return;
  const auto page = daemon->Ask("GET", WithQuery("/v1/" + what, {{"limit", "1000"}}));
  if (!page) return;
  std::string text;
  for (const Json& item : ListIn(*page, "items"))
    if (const std::string name = TextIn(item, "id"); IsPlain(name)) text += name + "\n";
  (void)WriteText(text);
}

struct Shell {
  const char* name;
  std::string (*make)(const CommandDefinition&);
  const char* footer;
};
constexpr Shell kShells[] = {
    {"bash", BashCompletion,
     "Examples:\n"
     "  source <(skerry completion bash)\n"
     "  skerry completion bash > ~/.local/share/bash-completion/completions/skerry\n\n"
     "The first is for this shell alone, and the second for all that begin later; it needs the package "
     "bash-completion."},
    {"zsh", ZshCompletion,
     "Examples:\n"
     "  source <(skerry completion zsh)\n"
     "  skerry completion zsh > ~/.zfunc/_skerry\n\n"
     "The first is for this shell alone, behind its compinit, and the second for all that begin later; put "
     "fpath+=~/.zfunc before compinit in ~/.zshrc."},
    {"fish", FishCompletion,
     "Examples:\n"
     "  skerry completion fish | source\n"
     "  skerry completion fish > ~/.config/fish/completions/skerry.fish\n\n"
     "The first is for this shell alone, and the second for all that begin later."},
};

base::Result<int> PrintScript(const Shell& shell, const Command& root) {
  SKERRY_RETURN_IF_ERROR(WriteText(shell.make(DefinitionsOf(root))));
  return 0;
}

// For the scripts.
Command NamesCommand(const Context& context) {
  auto what = std::make_shared<std::string>();
  return {.name = "names",
          .description = "Prints names that the daemon knows; asked by the scripts",
          .arguments = {{.name = "what",
                         .value = Value::Text(),
                         .description = "sessions or approvals",
                         .to = what.get(),
                         .need = Need::kRequired}},
          .action =
              [=, &context] {
                PrintNames(context, *what);
                return 0;
              },
          .visibility = Visibility::kHidden};
}

}  // namespace

Command CompletionCommand(const Context& context, const Command& root) {
  Command completion{.name = "completion",
                     .description = "Print a script that lets a shell complete our commands",
                     .footer =
                         "Names of sessions and approvals are asked from the daemon, for a second at most.\n\n"
                         "Examples:\n"
                         "  source <(skerry completion bash)\n"
                         "  skerry completion zsh > ~/.zfunc/_skerry\n"
                         "  skerry completion fish > ~/.config/fish/completions/skerry.fish"};
  for (const Shell& shell : kShells)
    completion.commands.push_back({.name = shell.name,
                                   .description = "Print the script for " + std::string(shell.name),
                                   .footer = shell.footer,
                                   .action = [&shell, &root] { return PrintScript(shell, root); }});
  completion.commands.push_back(NamesCommand(context));
  return completion;
}

}  // namespace skerry::cli
