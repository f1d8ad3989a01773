// skerry fs mkdir, move, copy and delete.
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
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

using Action = base::Result<Json> (*)(DaemonClient&, const std::string& files, const TreeOptions&);

base::Result<int> Run(const Context& context, const TreeOptions& options, Action action, const std::string& done) {
  SKERRY_ASSIGN_OR_RETURN(const std::string files, InSession(options.target.session, "/files"));
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  SKERRY_ASSIGN_OR_RETURN(const Json answer, action(daemon, files, options));
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

class TreeCommands {
 public:
  explicit TreeCommands(const FsGroup& group) : group_(group), options_(std::make_shared<TreeOptions>()) {}

  CLI::App* Add(const std::string& name, const std::string& description, Action action, const std::string& done) {
    CLI::App* command = group_.app.add_subcommand(name, description);
    AddSessionArgument(*command, options_->target.session);
    command->add_flag("--json", options_->target.json, "Print what became of files as an object");
    command->callback([options = options_, group = group_, action, done] {
      group.exit_code =
          Conclude(Run(group.context, *options, action, done), options->target.json ? Form::kJson : Form::kText);
    });
    return command;
  }

  void AddForOne(CLI::App& command, const std::string& description) {
    AddPathArgument(command, options_->target.path, description);
  }

  void AddForTwo(CLI::App& command) {
    command.add_option("from", options_->target.path, "The file or directory")->required()->option_text("FROM");
    command.add_option("to", options_->to, "Where to: the new path itself")->required()->option_text("TO");
    command.add_flag("--no-replace", options_->keep, "Fail when something is there already");
  }

  [[nodiscard]] TreeOptions& options() { return *options_; }

 private:
  FsGroup group_;
  std::shared_ptr<TreeOptions> options_;
};

}  // namespace

void AddFsTree(const FsGroup& group) {
  TreeCommands commands(group);
  CLI::App* mkdir = commands.Add("mkdir", "Make a directory", MakeDirectory, "made");
  commands.AddForOne(*mkdir, "The directory");
  mkdir->add_flag("-p,--parents", commands.options().parents, "Those above it too; nothing happens if it is there");
  mkdir->footer("Example:\n  skerry fs mkdir -p analysis output/plots");
  CLI::App* move = commands.Add("move", "Move or rename a file or directory", Move, "moved");
  commands.AddForTwo(*move);
  move->footer("Example:\n  skerry fs move analysis draft.md output/report.md");
  CLI::App* copy = commands.Add("copy", "Copy a file or a whole directory", Copy, "copied");
  commands.AddForTwo(*copy);
  copy->footer("Example:\n  skerry fs copy analysis data data-before --no-replace");
  CLI::App* remove = commands.Add("delete", "Delete a file or an empty directory", Delete, "deleted");
  commands.AddForOne(*remove, "The file, link or directory; a link is not followed");
  remove->add_flag("-r,--recursive", commands.options().recursive, "A directory with all that is in it");
  remove->footer("Example:\n  skerry fs delete -r analysis temp/cache");
}

}  // namespace skerry::cli
