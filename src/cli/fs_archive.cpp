// skerry fs import and export: archives into a workspace, and a workspace as an archive.
#include <unistd.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "cli/archive_files.hpp"
#include "cli/fs_command_parts.hpp"
#include "cli/fs_json.hpp"
#include "cli/history_text.hpp"
#include "cli/signal_watch.hpp"
#include "cli/terminal.hpp"
#include "workspace/archive_export.hpp"
#include "workspace/archive_import.hpp"

namespace skerry::cli {
namespace {

using archive::ArchiveFormat;
using Json = nlohmann::ordered_json;

struct ArchiveOptions {
  FsTarget target;
  std::string archive;
  bool keep = false;
  std::optional<std::string> format;
  std::optional<std::string> output;
};

Json NamesToJson(const std::vector<std::string>& names) {
  Json array = Json::array();
  for (const std::string& name : names) {
    Json object;
    AddBytes(object, "path", name);
    array.push_back(std::move(object));
  }
  return array;
}

void NoteNames(const std::vector<std::string>& names, std::uint64_t count, const std::string& what) {
  constexpr std::size_t kShown = 20;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) Note(what + ": " + names[i]);
  if (count > kShown) Note(what + ": and " + std::to_string(count - kShown) + " more");
}

base::Status Tell(const workspace::ImportReport& report, const FsTarget& target) {
  if (target.json)
    return WriteJson({{"entries", report.entries},
                      {"bytes", report.bytes},
                      {"changes", ChangesToJson(report.changes)},
                      {"skipped", NamesToJson(report.skipped)}});
  NoteNames(report.skipped, report.skipped.size(), "left as it was");
  return WriteText("imported " + std::to_string(report.entries) + " files and directories, " +
                   std::to_string(report.bytes) + " bytes\n" + ChangesAsText(report.changes));
}

base::Result<int> Import(const Context& context, const ArchiveOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd archive, OpenArchive(options.archive));
  SKERRY_ASSIGN_OR_RETURN(engine::Session session, SessionOf(context, options.target.session));
  // Half of an archive helps nobody: the first Ctrl-C waits for the end.
  const SignalWatch signals;
  const workspace::ImportOptions import{
      .directory = options.target.path,
      .existing = options.keep ? workspace::Existing::kKeep : workspace::Existing::kReplace};
  const std::string what = base::Printable(options.archive == "-" ? "an archive" : options.archive) + " into " +
                           base::Printable(options.target.path);
  SKERRY_ASSIGN_OR_RETURN(const workspace::ImportReport report, session.Import(archive.get(), import, what));
  SKERRY_RETURN_IF_ERROR(Tell(report, options.target));
  return 0;
}

struct FormatName {
  std::string_view name;
  ArchiveFormat format;
};
constexpr std::array kFormats = {FormatName{"tar", ArchiveFormat::kTar}, FormatName{"tar.gz", ArchiveFormat::kTarGzip},
                                 FormatName{"zip", ArchiveFormat::kZip}};

base::Result<ArchiveFormat> FormatOf(const ArchiveOptions& options) {
  for (const FormatName& row : kFormats) {
    const bool by_ending = !options.format && options.output && options.output->ends_with("." + std::string(row.name));
    if (options.format == row.name || by_ending) return row.format;
  }
  return base::Err(base::Code::kInvalidArgument, "--format takes tar, tar.gz or zip");
}

// Ends the export when a signal came: nothing is left of it then.
class FileOrStop : public archive::ByteSink {
 public:
  FileOrStop(int fd, const SignalWatch& signals) : file_(fd), signals_(signals) {}
  base::Status Write(std::string_view bytes) override {
    if (signals_.signal() != 0) return base::Err(base::Code::kInternal, "the export was interrupted");
    return file_.Write(bytes);
  }

 private:
  archive::FileSink file_;
  const SignalWatch& signals_;
};

base::Result<int> ExportToFile(const workspace::AgentWorkspace& files, const workspace::ExportOptions& options,
                               const std::string& path) {
  SKERRY_ASSIGN_OR_RETURN(NewFile file, NewFile::Begin(path));
  const SignalWatch signals;
  FileOrStop sink(file.fd(), signals);
  const auto report = workspace::ExportArchive(files, options, sink);
  if (!report && signals.signal() != 0) {
    Note(report.error().message);
    return 128 + signals.signal();
  }
  if (!report) return std::unexpected(report.error());
  SKERRY_RETURN_IF_ERROR(file.Finish());
  NoteNames(report->skipped, report->skipped_count, "left out");
  SKERRY_RETURN_IF_ERROR(WriteText("exported " + std::to_string(report->entries) + " files and directories, " +
                                   std::to_string(report->bytes) + " bytes\n"));
  return 0;
}

base::Result<int> ExportToStdout(const workspace::AgentWorkspace& files, const workspace::ExportOptions& options) {
  StdoutSink sink;
  const auto report = workspace::ExportArchive(files, options, sink);
  if (!report) return sink.ExitCode(std::unexpected(report.error()));
  NoteNames(report->skipped, report->skipped_count, "left out");
  return 0;
}

base::Result<int> Export(const Context& context, const ArchiveOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const ArchiveFormat format, FormatOf(options));
  if (!options.output && ::isatty(STDOUT_FILENO) == 1)
    return base::Err(base::Code::kInvalidArgument, "an archive is nothing for a terminal; give -o FILE, or a pipe");
  SKERRY_ASSIGN_OR_RETURN(const auto files, FilesOf(context, options.target.session));
  const workspace::ExportOptions wanted{.path = options.target.path, .format = format};
  return options.output ? ExportToFile(*files, wanted, *options.output) : ExportToStdout(*files, wanted);
}

void AddImport(const FsGroup& group, const std::shared_ptr<ArchiveOptions>& options) {
  CLI::App* import = group.app.add_subcommand("import", "Unpack an archive into the workspace; all of it or nothing");
  AddSessionArgument(*import, options->target.session);
  import->add_option("archive", options->archive, "A tar archive, also with gzip or zstd, or a zip archive; - is stdin")
      ->required()
      ->option_text("ARCHIVE|-");
  import->add_option("path", options->target.path, "The directory to unpack into; made when it is missing")
      ->option_text("PATH");
  import->add_flag("--no-replace", options->keep, "Files that are there stay as they are");
  import->add_flag("--json", options->target.json, "Print what became of files as an object");
  import->footer(
      "An archive with a name or a link that leads out of the workspace is refused as a whole.\n\n"
      "Examples:\n"
      "  skerry fs import analysis project.zip\n"
      "  git archive HEAD | skerry fs import analysis - project");
  import->callback([options, group] {
    group.exit_code = Conclude(Import(group.context, *options), options->target.json ? Form::kJson : Form::kText);
  });
}

}  // namespace

void AddFsArchives(const FsGroup& group) {
  auto options = std::make_shared<ArchiveOptions>();
  AddImport(group, options);
  CLI::App* save = group.app.add_subcommand("export", "Pack the workspace, or a part of it, into an archive");
  AddSessionArgument(*save, options->target.session);
  save->add_option("path", options->target.path, "A directory or file; the whole workspace when it is missing")
      ->option_text("PATH");
  AddText(*save, "--format", options->format, "tar, tar.gz or zip; else what the name of FILE says", "FORMAT");
  AddText(*save, "-o,--output", options->output, "Where to; stdout when it is missing", "FILE");
  save->footer(
      "Links are packed as links. Sockets, fifos and devices are left out.\n\n"
      "Examples:\n"
      "  skerry fs export analysis -o analysis.zip\n"
      "  skerry fs export analysis output --format tar | tar -xf - -C results");
  save->callback([options, group] { group.exit_code = Conclude(Export(group.context, *options), Form::kText); });
}

}  // namespace skerry::cli
