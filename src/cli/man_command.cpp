// skerry man: manual pages, from the same definitions as --help.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/printable.hpp"
#include "cli/archive_files.hpp"
#include "cli/command.hpp"
#include "cli/command_output.hpp"
#include "cli/manual.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"

namespace skerry::cli {
namespace {

struct ManOptions {
  std::vector<std::string> command;
  std::optional<std::string> directory;
};

base::Status WritePage(const std::string& path, const std::string& page) {
  SKERRY_ASSIGN_OR_RETURN(NewFile file, NewFile::Begin(path));
  SKERRY_RETURN_IF_ERROR(os::WriteAll(file.fd(), page));
  return file.Finish();
}

base::Result<int> WriteAllPages(const CommandDefinition& root, const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return os::ErrnoErr(directory, error.value());
  const auto commands = AllCommands(root);
  for (const CommandDefinition* command : commands)
    SKERRY_RETURN_IF_ERROR(
        WritePage(directory + "/" + ManualFileName(*command), ManualPage(*command, root, SKERRY_VERSION)));
  SKERRY_RETURN_IF_ERROR(
      WriteText("wrote " + std::to_string(commands.size()) + " pages to " + base::Printable(directory) + "\n"));
  return 0;
}

base::Result<int> Man(const CommandDefinition& root, const ManOptions& options) {
  if (options.directory && !options.command.empty())
    return base::Err(base::Code::kInvalidArgument, "--all writes the pages of all commands; give it or a command");
  if (options.directory) return WriteAllPages(root, *options.directory);
  const CommandDefinition* command = FindCommand(root, options.command);
  if (command == nullptr) {
    std::string words;
    for (const std::string& word : options.command) words += " " + word;
    return base::Err(base::Code::kNotFound,
                     "there is no command skerry" + base::Printable(base::Excerpt(words)) + "; see skerry --help");
  }
  SKERRY_RETURN_IF_ERROR(WriteText(ManualPage(*command, root, SKERRY_VERSION)));
  return 0;
}

}  // namespace

Command ManCommand(const Command& root) {
  auto options = std::make_shared<ManOptions>();
  return {.name = "man",
          .description = "Print the manual page of a command, or write those of all",
          .footer =
              "The page is source for man: to read it, give it to man, as below.\n\n"
              "Examples:\n"
              "  skerry man run | man -l -\n"
              "  skerry man --all ~/.local/share/man/man1 && man skerry-session-create",
          .arguments = {{.name = "command",
                         .value = Value::Text("COMMAND..."),
                         .description = "The command, like session create; skerry itself without",
                         .to = &options->command}},
          .options = {{.names = "--all",
                       .value = Value::Directory(),
                       .description = "Write the pages of all commands to files in DIR",
                       .to = &options->directory}},
          .action = [=, &root] { return Man(DefinitionsOf(root), *options); }};
}

}  // namespace skerry::cli
