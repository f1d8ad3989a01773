// skerry fs: the files of a session, as the file tools of an agent see them.
#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "cli/fs_command_parts.hpp"

namespace skerry::cli {

void AddFsCommand(CLI::App& app, const Context& context, int& exit_code) {
  CLI::App* fs = app.add_subcommand("fs", "Read, write, edit, search, import and export the files of a session");
  fs->require_subcommand(1);
  const FsGroup group{.app = *fs, .context = context, .exit_code = exit_code};
  AddFsRead(group);
  AddFsWrite(group);
  AddFsEdit(group);
  AddFsList(group);
  AddFsTree(group);
  AddFsSearch(group);
  AddFsArchives(group);
  fs->footer(
      "Paths are those of the workspace: notes.txt, /notes.txt and /workspace/notes.txt are the same. Nothing leads "
      "out "
      "of it.\n"
      "What changes files is recorded; see skerry history. Behind -- names may begin with a dash.\n\n"
      "Examples:\n"
      "  echo hello | skerry fs write analysis data/hello.txt\n"
      "  skerry fs read analysis data/hello.txt\n"
      "  skerry fs edit analysis data/hello.txt --replace hello --with goodbye\n"
      "  skerry fs list analysis data\n\n"
      "Exit codes: 0; 125 failed, 126 refused: the path leads out of the workspace, or is closed to you.");
}

}  // namespace skerry::cli
