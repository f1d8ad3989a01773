// skerry fs: the files of a session, as the file tools of an agent see them.
#include "cli/command.hpp"
#include "cli/fs_command_parts.hpp"

namespace skerry::cli {

Command FsCommand(const Context& context) {
  return {.name = "fs",
          .description = "Read, write, edit, search, import and export the files of a session",
          .footer =
              "Paths are those of the workspace: notes.txt, /notes.txt and /workspace/notes.txt are the same. Nothing "
              "leads out of it.\n"
              "What changes files is recorded; see skerry history. Behind -- names may begin with a dash.\n\n"
              "Examples:\n"
              "  echo hello | skerry fs write analysis data/hello.txt\n"
              "  skerry fs read analysis data/hello.txt\n"
              "  skerry fs edit analysis data/hello.txt --replace hello --with goodbye\n"
              "  skerry fs list analysis data\n\n"
              "Exit codes: 0; 125 failed, 126 refused: the path leads out of the workspace, or is closed to you.",
          .commands = {FsReadCommand(context), FsWriteCommand(context), FsAppendCommand(context),
                       FsEditCommand(context), FsListCommand(context), FsStatCommand(context), FsMkdirCommand(context),
                       FsMoveCommand(context), FsCopyCommand(context), FsDeleteCommand(context),
                       FsSearchCommand(context), FsImportCommand(context), FsExportCommand(context)}};
}

}  // namespace skerry::cli
