// skerry image: root file systems that sandboxes can run in.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/images.hpp"
#include "cli/progress.hpp"
#include "cli/signal_watch.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "image/image_store.hpp"
#include "json/text.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr unsigned kDefaultGigabytes = 20;

struct ImageOptions {
  std::string name;
  std::string path;
  unsigned max_gigabytes = kDefaultGigabytes;
  bool json = false;
};

std::string Megabytes(std::uint64_t bytes) {
  constexpr std::uint64_t kMegabyte = 1'000'000;
  if (bytes >= 10 * kMegabyte) return std::to_string(bytes / kMegabyte) + " MB";
  return std::to_string(bytes / kMegabyte) + "." + std::to_string(bytes % kMegabyte / 100'000) + " MB";
}

std::string MomentOf(std::int64_t seconds) {
  return Moment(core::TimePoint(std::chrono::seconds(seconds)));
}

Json ToJson(const image::Image& image) {
  return {{"name", image.name},
          {"id", image.id},
          {"source", image::NameOf(image.source)},
          {"digest", image.digest},
          {"size", image.size},
          {"entries", image.entries},
          {"skipped", image.skipped},
          {"created", MomentOf(image.created)},
          {"environment", image.environment},
          {"working_directory", image.working_directory}};
}

bool PrintJson(const Json& json) {
  return Print(json::IndentedText(json));
}

// Shows the progress of the import, and passes Ctrl-C on to it.
class ImportProgress : public image::ProgressSink {
 public:
  explicit ImportProgress(const SignalWatch& signals) : signals_(signals) {}

  image::ProgressAnswer Report(const image::Progress& progress) override {
    if (signals_.signal() != 0) return image::ProgressAnswer::kStop;
    line_.Reach(progress.bytes, ", " + std::to_string(progress.entries) + " files");
    return image::ProgressAnswer::kGoOn;
  }

 private:
  const SignalWatch& signals_;
  ProgressLine line_{"imported", std::nullopt};
};

std::string Summary(const image::Image& image) {
  std::string text = image.name + " is " + image.id.substr(0, 12) + ": " + std::to_string(image.entries) +
                     " files and directories, " + Megabytes(image.size);
  if (image.skipped > 0) text += "; left out: " + std::to_string(image.skipped) + " devices, fifos or sockets";
  return text + "\n";
}

base::Result<int> Import(const ImageOptions& options) {
  if (options.path == "-")
    return base::Err(base::Code::kInvalidArgument,
                     "an archive is read more than once, so it cannot come from stdin; save it to a file first");
  SKERRY_ASSIGN_OR_RETURN(const image::ImageStore store, OpenImageStore());
  const SignalWatch signals;
  const image::ImportLimits limits{.max_bytes = std::uint64_t{options.max_gigabytes} << 30U};
  auto progress = std::make_unique<ImportProgress>(signals);
  const auto image = store.Import(options.name, options.path, limits, progress.get());
  progress.reset();  // wipes its line before another is written
  if (!image && signals.signal() != 0) {
    Note(image.error().message);
    return 128 + signals.signal();
  }
  if (!image) return std::unexpected(image.error());
  if (options.json ? PrintJson(ToJson(*image)) : Print(Summary(*image))) return 0;
  return base::Err(base::Code::kInternal, "cannot write the result to stdout");
}

std::string AsText(const std::vector<image::Image>& images) {
  if (images.empty()) return "no images; skerry image import NAME FILE makes one\n";
  std::vector<std::vector<std::string>> rows = {{"NAME", "ID", "SIZE", "FILES", "FROM", "CREATED"}};
  for (const image::Image& each : images)
    rows.push_back({each.name, each.id.substr(0, 12), Megabytes(each.size), std::to_string(each.entries),
                    std::string(image::NameOf(each.source)), MomentOf(each.created)});
  return AsTable(rows);
}

base::Result<int> List(const ImageOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const image::ImageStore store, OpenImageStore());
  SKERRY_ASSIGN_OR_RETURN(const std::vector<image::Image> images, store.List());
  Json rows = Json::array();
  for (const image::Image& each : images) rows.push_back(ToJson(each));
  if (options.json)
    PrintJson(rows);
  else
    Print(AsText(images));
  return 0;
}

base::Result<int> Remove(const ImageOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const image::ImageStore store, OpenImageStore());
  SKERRY_ASSIGN_OR_RETURN(const image::TreeFate fate, store.Remove(options.name));
  switch (fate) {
    case image::TreeFate::kRemoved:
      Print("removed " + options.name + "\n");
      break;
    case image::TreeFate::kKeptForOtherName:
      Print("removed " + options.name + "; its files stay, another image has the same\n");
      break;
    case image::TreeFate::kInUse:
      Print("removed " + options.name +
            "; its files are in use and go with the next import, remove or prune after that\n");
      break;
  }
  return 0;
}

base::Result<int> Prune(const ImageOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const image::ImageStore store, OpenImageStore());
  SKERRY_ASSIGN_OR_RETURN(const image::PruneReport report, store.Prune());
  if (options.json) {
    PrintJson({{"removed_images", report.removed_trees},
               {"removed_imports", report.removed_imports},
               {"kept_in_use", report.kept_in_use}});
    return 0;
  }
  Print("removed " + std::to_string(report.removed_trees) + " images without a name and " +
        std::to_string(report.removed_imports) + " imports that were interrupted" +
        (report.kept_in_use > 0 ? "; " + std::to_string(report.kept_in_use) + " without a name are still in use" : "") +
        "\n");
  return 0;
}

Argument NameArgument(ImageOptions& options, const std::string& description) {
  return {.name = "name",
          .value = Value::Text("NAME"),
          .description = description,
          .to = &options.name,
          .need = Need::kRequired};
}

Option JsonOption(ImageOptions& options, const std::string& description) {
  return {.names = "--json", .description = description, .to = &options.json};
}

Command ImportCommand() {
  auto options = std::make_shared<ImageOptions>();
  return {.name = "import",
          .description = "Unpack a root file system and give it a name",
          .footer =
              "Devices, fifos and sockets are left out; set-id bits, owners and extended attributes are dropped. An "
              "archive\n"
              "with a name that leads out of the tree is refused as a whole.\n\n"
              "Examples:\n"
              "  docker save debian:12 -o debian.tar && skerry image import debian:12 debian.tar\n"
              "  docker export my-container | zstd > my.tar.zst; skerry image import mine my.tar.zst\n"
              "  skerry image import alpine alpine-minirootfs-3.20.0-x86_64.tar.gz",
          .arguments = {NameArgument(*options, "What to call it, like debian:12; an image that has the name loses it"),
                        {.name = "file",
                         .value = Value::File(),
                         .description = "A tar archive of a root file system, what docker save wrote, or an OCI image "
                                        "layout (archive or directory); gzip and zstd are recognised",
                         .to = &options->path,
                         .need = Need::kRequired}},
          .options = {{.names = "--max-size",
                       .value = Value::Text("GB"),
                       .description = "What it may unpack to at most (20)",
                       .to = &options->max_gigabytes,
                       .bounds = Range{.least = 1U, .most = 10'000U}},
                      JsonOption(*options, "Print the image as an object")},
          .action = [=] { return Import(*options); }};
}

}  // namespace

Command ImageCommand() {
  auto options = std::make_shared<ImageOptions>();
  return {.name = "image",
          .description = "Import, list and remove root file systems for sandboxes",
          .commands = {ImportCommand(),
                       {.name = "list",
                        .description = "List the images of this user",
                        .footer = "Example:\n  skerry image list --json",
                        .options = {JsonOption(*options, "As an array of objects")},
                        .action = [=] { return List(*options); }},
                       {.name = "remove",
                        .description = "Remove an image; files in use go when their user has ended",
                        .footer = "Example:\n  skerry image remove debian:12",
                        .arguments = {NameArgument(*options, "The image")},
                        .action = [=] { return Remove(*options); }},
                       {.name = "prune",
                        .description = "Remove files that no image needs, and interrupted imports",
                        .footer = "Example:\n  skerry image prune",
                        .options = {JsonOption(*options, "As an object")},
                        .action = [=] { return Prune(*options); }}}};
}

}  // namespace skerry::cli
