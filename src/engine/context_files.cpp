#include "engine/context_files.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <sstream>
#include <utility>

#include "base/printable.hpp"
#include "engine/input_pump.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"

namespace skerry::engine {
namespace {

constexpr std::size_t kMaxRemarkBytes = 4096;

// Writes the archive to a file, and keeps what tar says.
class ArchiveSink : public core::OutputSink {
 public:
  explicit ArchiveSink(int archive) : archive_(archive) {}

  core::SinkAnswer Write(core::Stream stream, std::string_view bytes, base::Deadline) override {
    if (stream == core::Stream::kStderr) {
      remarks_.append(bytes.substr(0, kMaxRemarkBytes - std::min(kMaxRemarkBytes, remarks_.size())));
    } else if (archive_ >= 0 && status_) {
      status_ = os::WriteAll(archive_, bytes);
    }
    return {.accepted = bytes.size(), .wants_more = status_.has_value()};
  }

  [[nodiscard]] const base::Status& status() const { return status_; }
  [[nodiscard]] std::vector<std::string> Remarks() const {
    std::vector<std::string> lines;
    std::istringstream stream(remarks_);
    for (std::string line; std::getline(stream, line);) lines.push_back(base::Printable(line));
    return lines;
  }

 private:
  int archive_;
  base::Status status_;
  std::string remarks_;
};

std::unexpected<base::Error> Failed(const char* what, const core::Outcome& outcome, const ArchiveSink& sink) {
  const auto remarks = sink.Remarks();
  std::string why = outcome.Explanation();
  if (why.empty()) why = remarks.empty() ? "exit code " + std::to_string(outcome.exit_code) : remarks.front();
  return base::Err(base::Code::kExecutionFailed, std::string("the files could not be ") + what + ": " + why);
}

}  // namespace

base::Result<PackedFiles> PackFiles(core::Sandbox& sandbox, const FileCopyLimits& limits) {
  PackedFiles files{.archive = base::UniqueFd(::memfd_create("skerry-files", MFD_CLOEXEC))};
  if (!files.archive.valid()) return os::ErrnoErr("memfd_create");
  ArchiveSink sink(files.archive.get());
  core::Command command;
  // A file that may not be read is left out and named.
  command.program = core::Arguments{
      "tar",       "--create",   "--file=-", "--directory=/", "--ignore-failed-read", "--one-file-system", "--sparse",
      "workspace", "home/agent", "tmp"};
  command.timeout = limits.timeout;
  command.max_output_bytes = limits.max_bytes;
  SKERRY_ASSIGN_OR_RETURN(const core::CommandResult result, sandbox.Execute(std::move(command), sink, {}));
  SKERRY_RETURN_IF_ERROR(sink.status());
  if (result.output_truncated)
    return base::Err(base::Code::kTooLarge,
                     "the files are larger than " + std::to_string(limits.max_bytes >> 20U) + " MB together");
  // 1 means that a file changed while it was read.
  if (result.outcome.kind != core::OutcomeKind::kExited || result.outcome.exit_code > 1)
    return Failed("read", result.outcome, sink);
  if (::lseek(files.archive.get(), 0, SEEK_SET) < 0) return os::ErrnoErr("lseek");
  files.remarks = sink.Remarks();
  return files;
}

base::Status UnpackFiles(core::Sandbox& sandbox, const PackedFiles& files, const FileCopyLimits& limits) {
  ArchiveSink sink(-1);
  core::Command command;
  // Directories that exist already keep their modes.
  command.program =
      core::Arguments{"tar", "--extract", "--file=-", "--directory=/", "--no-overwrite-dir", "--preserve-permissions"};
  command.timeout = limits.timeout;
  command.input_end = core::InputEnd::kOpen;
  SKERRY_ASSIGN_OR_RETURN(const auto process, sandbox.Launch(std::move(command), sink, {}));
  const InputPump pump(files.archive.get(), InputPump::To(*process));
  SKERRY_ASSIGN_OR_RETURN(const core::CommandResult result, process->Await({}));
  if (result.outcome.kind == core::OutcomeKind::kExited && result.outcome.exit_code == 0) return {};
  return Failed("written", result.outcome, sink);
}

}  // namespace skerry::engine
