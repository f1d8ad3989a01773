#include "workspace/archive_export.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "archive/archive_writer.hpp"
#include "archive/byte_source.hpp"
#include "archive/gzip_sink.hpp"
#include "archive/tar_writer.hpp"
#include "archive/zip_writer.hpp"
#include "os/files.hpp"
#include "workspace/path_errors.hpp"
#include "workspace/sorted_walk.hpp"

namespace skerry::workspace {
namespace {

constexpr std::size_t kMostSkipped = 100;

// Where an entry was found: it is opened by its directory, whatever became of its path.
struct Found {
  int directory;
  const std::string& name;
  const std::string& path;  // in the archive
  const Facts& facts;
  const MountBorder& border;
};

std::unexpected<base::Error> TookTooLong() {
  return base::Err(base::Code::kTimeout, "the archive took too long to make");
}

class TimedSource : public archive::ByteSource {
 public:
  TimedSource(int fd, const base::Deadline& deadline) : file_(fd), deadline_(deadline) {}
  base::Result<std::size_t> Read(std::span<char> buffer) override {
    if (deadline_.Expired()) return TookTooLong();
    return file_.Read(buffer);
  }

 private:
  archive::FileSource file_;
  const base::Deadline& deadline_;
};

class Exporter {
 public:
  Exporter(const ExportOptions& options, archive::ArchiveWriter& writer) : options_(options), writer_(writer) {}

  base::Status Add(const Found& found) {
    if (options_.deadline.Expired()) return TookTooLong();
    if (report.entries >= options_.max_entries)
      return base::Err(base::Code::kTooLarge, "there are more than " + std::to_string(options_.max_entries) +
                                                  " files to put into the archive");
    if (IsDirectory(found.facts)) return Count(writer_.AddDirectory(MemberOf(found)));
    if (IsLink(found.facts)) return AddLink(found);
    if (IsFile(found.facts)) return AddFile(found);
    Skip(found.path);
    return {};
  }

  void Skip(const std::string& path) {
    ++report.skipped_count;
    if (report.skipped.size() < kMostSkipped) report.skipped.push_back(path);
  }

  ExportReport report;

 private:
  static archive::Member MemberOf(const Found& found) {
    return {.path = found.path,
            .mode = found.facts.stx_mode & 0777U,
            .mtime = {.tv_sec = found.facts.stx_mtime.tv_sec, .tv_nsec = found.facts.stx_mtime.tv_nsec}};
  }

  base::Status Count(base::Status status) {
    if (status) ++report.entries;
    return status;
  }

  // A link that is gone or something else meanwhile is left out.
  base::Status AddLink(const Found& found) {
    const auto target = os::ReadLink(found.directory, found.name);
    if (!target) return {};
    return Count(writer_.AddLink(MemberOf(found), *target));
  }

  base::Status AddFile(const Found& found) {
    const auto fd = OpenFileIn(found.directory, found.name, found.border, O_RDONLY);
    if (!fd && fd.error().code == base::Code::kNotFound) return {};
    Facts facts{};
    if (!fd || !FactsAt(fd->get(), "", facts)) {
      Skip(found.path);
      return {};
    }
    if (facts.stx_size > options_.max_bytes - report.bytes)
      return NamedErr(found.path, base::Code::kTooLarge,
                      "makes the archive larger than " + std::to_string(options_.max_bytes) + " bytes");
    report.bytes += facts.stx_size;
    TimedSource content(fd->get(), options_.deadline);
    return Count(writer_.AddFile(MemberOf({found.directory, found.name, found.path, facts, found.border}),
                                 facts.stx_size, content));
  }

  const ExportOptions& options_;
  archive::ArchiveWriter& writer_;
};

base::Status AddTree(int top, const base::Deadline& deadline, Exporter& exporter) {
  SKERRY_ASSIGN_OR_RETURN(SortedWalk walk, SortedWalk::Open(top));
  for (;;) {
    if (deadline.Expired()) return TookTooLong();
    SKERRY_ASSIGN_OR_RETURN(const bool there, walk.Next());
    if (!there) break;
    SKERRY_RETURN_IF_ERROR(exporter.Add({walk.directory(), walk.name(), walk.path(), walk.facts(), walk.border()}));
  }
  exporter.report.skipped_count += walk.passed_count();
  for (const std::string& path : walk.passed())
    if (exporter.report.skipped.size() < kMostSkipped) exporter.report.skipped.push_back(path);
  return {};
}

base::Result<ExportReport> Export(const AgentWorkspace& workspace, const ExportOptions& options,
                                  archive::ArchiveWriter& writer) {
  Exporter exporter(options, writer);
  SKERRY_ASSIGN_OR_RETURN(const std::string path, MapPath(options.path));
  const auto top = workspace.resolver().Open(path, O_RDONLY | O_DIRECTORY | (path.empty() ? 0 : O_NOFOLLOW));
  if (top) {
    SKERRY_RETURN_IF_ERROR(AddTree(top->get(), options.deadline, exporter));
  } else {
    SKERRY_ASSIGN_OR_RETURN(const Place place, workspace.resolver().Find(path, Resolver::LastLink::kKeep));
    Facts facts{};
    if (!FactsAt(place.parent.get(), place.name.c_str(), facts)) return PathErr();
    if (IsDirectory(facts)) return std::unexpected(top.error());
    SKERRY_RETURN_IF_ERROR(
        exporter.Add({place.parent.get(), place.name, place.name, facts, workspace.resolver().border()}));
  }
  SKERRY_RETURN_IF_ERROR(writer.Finish());
  return std::move(exporter.report);
}

}  // namespace

base::Result<ExportReport> ExportArchive(const AgentWorkspace& workspace, const ExportOptions& options,
                                         archive::ByteSink& sink) {
  if (options.format == archive::ArchiveFormat::kZip) {
    archive::ZipWriter writer(sink);
    return Named(options.path, Export(workspace, options, writer));
  }
  if (options.format == archive::ArchiveFormat::kTar) {
    archive::TarWriter writer(sink);
    return Named(options.path, Export(workspace, options, writer));
  }
  SKERRY_ASSIGN_OR_RETURN(const auto gzip, archive::GzipSink::Open(sink));
  archive::TarWriter writer(*gzip);
  SKERRY_ASSIGN_OR_RETURN(ExportReport report, Named(options.path, Export(workspace, options, writer)));
  SKERRY_RETURN_IF_ERROR(gzip->Finish());
  return report;
}

}  // namespace skerry::workspace
