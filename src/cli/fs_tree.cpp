// skerry fs mkdir, move, copy and delete.
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "cli/answer.hpp"
#include "cli/fs_command_parts.hpp"
#include "cli/history_text.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

struct TreeOptions {
  FsTarget target;
  std::string to;
  bool keep = false;
  bool parents = false;
  bool recursive = false;
};

base::Status CheckPath(const std::string& path) {
  return CheckIsText(path, base::Printable(path));
}

base::Result<Json> MakeDirectory(DaemonClient& daemon, const std::string& files, const TreeOptions& options) {
  SKERRY_RETURN_IF_ERROR(CheckPath(options.target.path));
  return daemon.Ask("POST", files + "/directory",
                    {{"path", options.target.path}, {"parents", options.parents ? "make" : "need"}});
}

base::Result<Json> Transfer(DaemonClient& daemon, const std::string& target, const TreeOptions& options) {
  SKERRY_RETURN_IF_ERROR(CheckPath(options.target.path));
  SKERRY_RETURN_IF_ERROR(CheckPath(options.to));
  return daemon.Ask(
      "POST", target,
      {{"from", options.target.path}, {"to", options.to}, {"existing", options.keep ? "keep" : "replace"}});
}

base::Result<Json> Move(DaemonClient& daemon, const std::string& files, const TreeOptions& options) {
  return Transfer(daemon, files + "/move", options);
}

base::Result<Json> Copy(DaemonClient& daemon, const std::string& files, const TreeOptions& options) {
  return Transfer(daemon, files + "/copy", options);
}

base::Result<Json> Delete(DaemonClient& daemon, const std::string& files, const TreeOptions& options) {
  return daemon.Ask(
      "DELETE", WithQuery(files, {{"path", options.target.path}, {"recursive", options.recursive ? "true" : "false"}}));
}

using Request = base::Result<Json> (*)(DaemonClient&, const std::string& files, const TreeOptions&);

base::Result<int> Run(const Context& context, const TreeOptions& options, Request request, const std::string& done) {
  SKERRY_ASSIGN_OR_RETURN(const std::string files, InSession(options.target.session, "/files"));
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  SKERRY_ASSIGN_OR_RETURN(const Json answer, request(daemon, files, options));
  const Json& changes = ListIn(answer, "files");
  if (options.target.json) {
    SKERRY_RETURN_IF_ERROR(WriteJson({{"changes", changes}}));
    return 0;
  }
  const std::string to = options.to.empty() ? "" : " to " + base::Printable(options.to);
  SKERRY_RETURN_IF_ERROR(
      WriteText(done + " " + base::Printable(options.target.path) + to + "\n" + ChangesAsText(ChangesFrom(changes))));
  return 0;
}

Option ChangesAsJson(TreeOptions& options) {
  return JsonOption(options.target, "Print what became of files as an object");
}

std::vector<Argument> TransferArguments(TreeOptions& options) {
  return {SessionArgument(options.target),
          {.name = "from",
           .value = Value::Text("FROM"),
           .description = "The file or directory",
           .to = &options.target.path,
           .need = Need::kRequired},
          {.name = "to",
           .value = Value::Text("TO"),
           .description = "Where to: the new path itself",
           .to = &options.to,
           .need = Need::kRequired}};
}

std::vector<Option> TransferOptions(TreeOptions& options) {
  return {ChangesAsJson(options),
          {.names = "--no-replace", .description = "Fail when something is there already", .to = &options.keep}};
}

}  // namespace

Command FsMkdirCommand(const Context& context) {
  auto options = std::make_shared<TreeOptions>();
  return {.name = "mkdir",
          .description = "Make a directory",
          .footer = "Example:\n  skerry fs mkdir -p analysis output/plots",
          .arguments = {SessionArgument(options->target), PathArgument(options->target, "The directory")},
          .options = {ChangesAsJson(*options),
                      {.names = "-p,--parents",
                       .description = "Those above it too; nothing happens if it is there",
                       .to = &options->parents}},
          .action = [=, &context] { return Run(context, *options, MakeDirectory, "made"); },
          .errors_as_json = &options->target.json};
}

Command FsMoveCommand(const Context& context) {
  auto options = std::make_shared<TreeOptions>();
  return {.name = "move",
          .description = "Move or rename a file or directory",
          .footer = "Example:\n  skerry fs move analysis draft.md output/report.md",
          .arguments = TransferArguments(*options),
          .options = TransferOptions(*options),
          .action = [=, &context] { return Run(context, *options, Move, "moved"); },
          .errors_as_json = &options->target.json};
}

Command FsCopyCommand(const Context& context) {
  auto options = std::make_shared<TreeOptions>();
  return {.name = "copy",
          .description = "Copy a file or a whole directory",
          .footer = "Example:\n  skerry fs copy analysis data data-before --no-replace",
          .arguments = TransferArguments(*options),
          .options = TransferOptions(*options),
          .action = [=, &context] { return Run(context, *options, Copy, "copied"); },
          .errors_as_json = &options->target.json};
}

Command FsDeleteCommand(const Context& context) {
  auto options = std::make_shared<TreeOptions>();
  return {.name = "delete",
          .description = "Delete a file or an empty directory",
          .footer = "Example:\n  skerry fs delete -r analysis temp/cache",
          .arguments = {SessionArgument(options->target),
                        PathArgument(options->target, "The file, link or directory; a link is not followed")},
          .options = {ChangesAsJson(*options),
                      {.names = "-r,--recursive",
                       .description = "A directory with all that is in it",
                       .to = &options->recursive}},
          .action = [=, &context] { return Run(context, *options, Delete, "deleted"); },
          .errors_as_json = &options->target.json};
}

}  // namespace skerry::cli
