// skerry fs import and export: archives into a workspace, and a workspace as an archive.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "cli/answer.hpp"
#include "cli/archive_files.hpp"
#include "cli/fs_command_parts.hpp"
#include "cli/history_text.hpp"
#include "cli/progress.hpp"
#include "cli/signal_watch.hpp"
#include "cli/terminal.hpp"

namespace skerry::cli {
namespace {

using net::Incoming;
using Json = nlohmann::ordered_json;

struct ArchiveOptions {
  FsTarget target;
  std::string archive;
  bool keep = false;
  std::optional<std::string> format;
  std::optional<std::string> output;
};

void NoteNames(const Json& rows, const std::string& what) {
  constexpr std::size_t kShown = 20;
  for (std::size_t i = 0; i < std::min(rows.size(), kShown); ++i) Note(what + ": " + BytesIn(rows[i], "path"));
  if (rows.size() > kShown) Note(what + ": and " + std::to_string(rows.size() - kShown) + " more");
}

base::Status Tell(const Json& report, const FsTarget& target) {
  if (target.json) return WriteJson(report);
  NoteNames(ListIn(report, "skipped"), "left as it was");
  return WriteText("imported " + std::to_string(NumberIn(report, "entries")) + " files and directories, " +
                   std::to_string(NumberIn(report, "bytes")) + " bytes\n" +
                   ChangesAsText(ChangesFrom(ListIn(report, "changes"))));
}

// Shows the progress while the archive is sent.
base::Result<Json> SendArchive(const Context& context, const ArchiveOptions& options, const std::string& target) {
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd archive, OpenInput(options.archive));
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  ProgressLine progress("sent", BytesLeftIn(archive.get()));
  return daemon.AskWith(
      {.method = "POST",
       .target =
           WithQuery(target, {{"directory", options.target.path}, {"existing", options.keep ? "keep" : "replace"}}),
       .headers = {{"Content-Type", "application/octet-stream"}},
       .feed = Counted(FeedFrom(archive.get(), options.archive == "-" ? "stdin" : options.archive), progress)});
}

// An interrupt while the archive is sent changes nothing; after that the daemon completes the import.
base::Result<int> Import(const Context& context, const ArchiveOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const std::string target, InSession(options.target.session, "/files/import"));
  SKERRY_ASSIGN_OR_RETURN(const Json report, SendArchive(context, options, target));
  SKERRY_RETURN_IF_ERROR(Tell(report, options.target));
  return 0;
}

constexpr std::array<std::string_view, 3> kFormats = {"tar", "tar.gz", "zip"};

base::Result<std::string> FormatOf(const ArchiveOptions& options) {
  for (const std::string_view name : kFormats) {
    const bool by_ending = !options.format && options.output && options.output->ends_with("." + std::string(name));
    if (options.format == name || by_ending) return std::string(name);
  }
  return base::Err(base::Code::kInvalidArgument, "--format takes tar, tar.gz or zip");
}

// Ends the export when a signal came: nothing of it is left then.
base::Status CopyUntilSignal(Incoming& answer, archive::ByteSink& sink, const SignalWatch& signals) {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(200);
  ProgressLine progress("received", LengthOf(answer));
  while (signals.signal() == 0) {
    auto block = answer.Read(base::Deadline::After(kBetweenLooks));
    if (!block && block.error().code == base::Code::kTimeout) continue;
    if (!block) return std::unexpected(block.error());
    if (block->empty()) return {};
    progress.Add(block->size());
    SKERRY_RETURN_IF_ERROR(sink.Write(*block));
  }
  return base::Err(base::Code::kInternal, "the export was interrupted");
}

std::string NumberOf(const Incoming& answer, const char* header) {
  return answer.Header(header).value_or("?");
}

void NoteLeftOut(const Incoming& answer) {
  if (const std::string count = NumberOf(answer, "X-Skerry-Skipped"); count != "0" && count != "?")
    Note("left out: " + count + " that are no files, links or directories");
}

base::Result<int> ExportToFile(Incoming& answer, NewFile& file, const SignalWatch& signals) {
  archive::FileSink sink(file.fd());
  const base::Status copied = CopyUntilSignal(answer, sink, signals);
  if (!copied && signals.signal() != 0) {
    Note(copied.error().message);
    return 128 + signals.signal();
  }
  if (!copied) return std::unexpected(copied.error());
  SKERRY_RETURN_IF_ERROR(file.Finish());
  NoteLeftOut(answer);
  SKERRY_RETURN_IF_ERROR(WriteText("exported " + NumberOf(answer, "X-Skerry-Entries") + " files and directories, " +
                                   NumberOf(answer, "X-Skerry-Bytes") + " bytes\n"));
  return 0;
}

base::Status CopyAll(Incoming& answer, archive::ByteSink& sink) {
  ProgressLine progress("received", LengthOf(answer), StderrScreenBesideStdout());
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const std::string block, answer.Read(base::Deadline::Never()));
    if (block.empty()) return {};
    progress.Add(block.size());
    SKERRY_RETURN_IF_ERROR(sink.Write(block));
  }
}

base::Result<int> ExportToStdout(Incoming& answer) {
  StdoutSink sink;
  if (const base::Status copied = CopyAll(answer, sink); !copied) return sink.ExitCode(copied);
  NoteLeftOut(answer);
  return 0;
}

base::Result<Incoming> AwaitPacked(DaemonClient& daemon, const net::OutgoingRequest& request) {
  const Spinner spinner("packs the archive");
  return daemon.Send(request);
}

base::Result<int> Export(const Context& context, const ArchiveOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const std::string format, FormatOf(options));
  if (!options.output && ::isatty(STDOUT_FILENO) == 1)
    return base::Err(base::Code::kInvalidArgument, "an archive is nothing for a terminal; give -o FILE, or a pipe");
  SKERRY_ASSIGN_OR_RETURN(const std::string target, InSession(options.target.session, "/files/export"));
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  const net::OutgoingRequest request{.target = WithQuery(target, {{"path", options.target.path}, {"format", format}})};
  SKERRY_ASSIGN_OR_RETURN(Incoming answer, AwaitPacked(daemon, request));
  if (!options.output) return ExportToStdout(answer);
  // Only now: an interrupt of the packing leaves nothing to clean up.
  const SignalWatch signals;
  SKERRY_ASSIGN_OR_RETURN(NewFile file, NewFile::Begin(*options.output));
  return ExportToFile(answer, file, signals);
}

}  // namespace

Command FsImportCommand(const Context& context) {
  auto options = std::make_shared<ArchiveOptions>();
  return {.name = "import",
          .description = "Unpack an archive into the workspace; all of it or nothing",
          .footer =
              "An archive with a name or a link that leads out of the workspace is refused as a whole.\n\n"
              "Examples:\n"
              "  skerry fs import analysis project.zip\n"
              "  git archive HEAD | skerry fs import analysis - project",
          .arguments = {SessionArgument(options->target),
                        {.name = "archive",
                         .value = Value::File("ARCHIVE|-"),
                         .description = "A tar archive, also with gzip or zstd, or a zip archive; - is stdin",
                         .to = &options->archive,
                         .need = Need::kRequired},
                        PathArgument(options->target, "The directory to unpack into; made when it is missing",
                                     Need::kOptional)},
          .options = {{.names = "--no-replace",
                       .description = "Files that are there stay as they are",
                       .to = &options->keep},
                      JsonOption(options->target, "Print what became of files as an object")},
          .action = [=, &context] { return Import(context, *options); },
          .errors_as_json = &options->target.json};
}

Command FsExportCommand(const Context& context) {
  auto options = std::make_shared<ArchiveOptions>();
  return {.name = "export",
          .description = "Pack the workspace, or a part of it, into an archive",
          .footer =
              "Links are packed as links. Sockets, fifos and devices are left out.\n\n"
              "Examples:\n"
              "  skerry fs export analysis -o analysis.zip\n"
              "  skerry fs export analysis output --format tar | tar -xf - -C results",
          .arguments = {SessionArgument(options->target),
                        PathArgument(options->target, "A directory or file; the whole workspace when it is missing",
                                     Need::kOptional)},
          .options = {{.names = "--format",
                       .value = Value::OneOf("FORMAT", {kFormats.begin(), kFormats.end()}),
                       .description = "tar, tar.gz or zip; else what the name of FILE says",
                       .to = &options->format},
                      {.names = "-o,--output",
                       .value = Value::File(),
                       .description = "Where to; stdout when it is missing",
                       .to = &options->output}},
          .action = [=, &context] { return Export(context, *options); }};
}

}  // namespace skerry::cli
