#include "image/image_plan.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <nlohmann/json.hpp>

#include "archive/entry_path.hpp"
#include "base/sha256.hpp"
#include "image/docker_archive.hpp"
#include "image/oci_layout.hpp"
#include "image/tree_directory.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"

namespace skerry::image {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxJsonBytes = std::size_t{2} << 20U;
constexpr int kMaxJsonDepth = 100;
constexpr std::size_t kMaxVariables = 1000;
constexpr std::size_t kMaxVariableBytes = std::size_t{128} << 10U;
constexpr std::string_view kDigestPrefix = "sha256:";

std::unexpected<base::Error> Bad(const std::string& message) {
  return base::Err(base::Code::kInvalidArgument, message);
}

base::Status CheckPlatform(const Json& config) {
  const std::string system = TextAt(config, "os");
  if (!system.empty() && system != "linux")
    return Bad("the image is for " + archive::QuotedPath(system) + ", not for linux");
  const std::string architecture = TextAt(config, "architecture");
  if (architecture.empty() || architecture == ThisArchitecture()) return {};
  return Bad("the image is for " + archive::QuotedPath(architecture) + " processors; this machine is " +
             ThisArchitecture());
}

base::Status ApplyContentDigests(const Json& config, ImagePlan& plan) {
  const auto rootfs = config.find("rootfs");
  const auto digests = rootfs != config.end() && rootfs->is_object() ? rootfs->find("diff_ids") : config.end();
  const bool there = rootfs != config.end() && rootfs->is_object() && digests != rootfs->end() && digests->is_array();
  if (!there || digests->size() != plan.layers.size())
    return Bad("the image is damaged: its configuration does not fit its layers");
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    if (!(*digests)[i].is_string()) return Bad("the image is damaged: a layer has no digest");
    SKERRY_ASSIGN_OR_RETURN(plan.layers[i].content_digest, ParseDigest((*digests)[i].get_ref<const std::string&>()));
  }
  return {};
}

bool IsVariable(const Json& entry) {
  if (!entry.is_string()) return false;
  const std::string& text = entry.get_ref<const std::string&>();
  const std::size_t equals = text.find('=');
  return equals != std::string::npos && equals > 0 && text.find('\0') == std::string::npos;
}

base::Status ApplyEnvironment(const Json& settings, ImagePlan& plan) {
  const auto entries = settings.find("Env");
  if (entries == settings.end() || !entries->is_array()) return {};
  std::size_t bytes = 0;
  for (const Json& entry : *entries) {
    if (!IsVariable(entry)) return Bad("the image is refused: it sets a variable that has no name or no value");
    plan.environment.push_back(entry.get<std::string>());
    bytes += plan.environment.back().size();
  }
  if (plan.environment.size() > kMaxVariables || bytes > kMaxVariableBytes)
    return base::Err(base::Code::kTooLarge, "the image is refused: it sets more than 1000 variables or 128 kB of them");
  return {};
}

}  // namespace

std::string TextAt(const Json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string ThisArchitecture() {
  constexpr std::array kNames = {std::pair{"x86_64", "amd64"}, std::pair{"aarch64", "arm64"}, std::pair{"i686", "386"},
                                 std::pair{"armv7l", "arm"}};
  utsname names{};
  if (::uname(&names) < 0) return "unknown";
  const std::string machine = names.machine;
  const auto* const found = std::ranges::find(kNames, machine, [](const auto& pair) { return pair.first; });
  return found == kNames.end() ? machine : found->second;
}

base::Result<std::string> ParseDigest(std::string_view text) {
  if (!text.starts_with(kDigestPrefix))
    return Bad("the image has a digest that is not sha256: " + archive::QuotedPath(text));
  std::string hex(text.substr(kDigestPrefix.size()));
  if (!base::IsSha256Hex(hex)) return Bad("the image has a digest that is none: " + archive::QuotedPath(text));
  return hex;
}

base::Result<base::UniqueFd> OpenLayoutFile(int layout_fd, const std::string& path) {
  SKERRY_ASSIGN_OR_RETURN(const archive::EntryPath checked, archive::ParseEntryPath(path));
  base::UniqueFd fd = OpenInTree(layout_fd, checked.Joined(), O_RDONLY | O_NONBLOCK, Links::kInsideTree);
  if (!fd.valid() && errno == ENOENT)
    return base::Err(base::Code::kNotFound, "the image is not complete: " + archive::QuotedPath(path) + " is missing");
  if (!fd.valid()) return os::ErrnoErr("open " + archive::QuotedPath(path) + " of the image");
  struct stat facts{};
  if (::fstat(fd.get(), &facts) < 0) return os::ErrnoErr(path);
  if (!S_ISREG(facts.st_mode)) return Bad("the image is refused: " + archive::QuotedPath(path) + " is not a file");
  return fd;
}

base::Result<Json> ReadLayoutJson(int layout_fd, const std::string& path, const std::string& digest) {
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd fd, OpenLayoutFile(layout_fd, path));
  auto text = os::ReadAll(fd.get(), kMaxJsonBytes);
  if (!text) return base::Err(text.error().code, archive::QuotedPath(path) + " of the image: " + text.error().message);
  if (!digest.empty() && base::Sha256Hex(*text) != digest)
    return Bad("the image is damaged: " + archive::QuotedPath(path) +
               " does not have its digest; fetch or save it again");
  bool too_deep = false;
  // Copying a value recurses for each level: a million levels would use up the stack.
  const auto look = [&](int depth, Json::parse_event_t /*event*/, Json& /*value*/) {
    too_deep = too_deep || depth > kMaxJsonDepth;
    return !too_deep;
  };
  Json json = Json::parse(*text, look, false);
  if (too_deep) return Bad("the image is refused: " + archive::QuotedPath(path) + " is nested too deeply");
  if (json.is_discarded()) return Bad("the image is damaged: " + archive::QuotedPath(path) + " is not JSON");
  return json;
}

base::Status ApplyImageConfig(const Json& config, ImagePlan& plan) {
  if (!config.is_object()) return Bad("the image is damaged: its configuration is not an object");
  SKERRY_RETURN_IF_ERROR(CheckPlatform(config));
  SKERRY_RETURN_IF_ERROR(ApplyContentDigests(config, plan));
  const auto settings = config.find("config");
  if (settings == config.end() || !settings->is_object()) return {};
  SKERRY_RETURN_IF_ERROR(ApplyEnvironment(*settings, plan));
  const std::string directory = TextAt(*settings, "WorkingDir");
  if (directory.empty()) return {};
  if (!directory.starts_with('/') || directory.size() > archive::kMaxPathBytes ||
      directory.find('\0') != std::string::npos)
    return Bad("the image is refused: its working directory " + archive::QuotedPath(directory) +
               " is not an absolute path");
  plan.working_directory = directory;
  return {};
}

base::Result<std::optional<ImagePlan>> ReadImagePlan(int layout_fd) {
  SKERRY_ASSIGN_OR_RETURN(std::optional<ImagePlan> plan, ReadOciLayout(layout_fd));
  if (plan) return plan;
  return ReadDockerArchive(layout_fd);
}

}  // namespace skerry::image
