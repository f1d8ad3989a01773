#include "image/image.hpp"

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"

namespace skerry::image {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kSources = {std::pair{SourceKind::kRootfs, std::string_view("rootfs")},
                                 std::pair{SourceKind::kDocker, std::string_view("docker")},
                                 std::pair{SourceKind::kOci, std::string_view("oci")}};

std::unexpected<base::Error> Unreadable() {
  return base::Err(base::Code::kInternal, "what the store keeps for this name cannot be read");
}

base::Status Read(const Json& record, const char* key, std::string& value) {
  const auto found = record.find(key);
  if (found == record.end() || !found->is_string()) return Unreadable();
  value = found->get<std::string>();
  return {};
}

template <class Number>
base::Status Read(const Json& record, const char* key, Number& value) {
  const auto found = record.find(key);
  if (found == record.end() || !found->is_number_integer()) return Unreadable();
  value = found->get<Number>();
  return {};
}

base::Status ReadEnvironment(const Json& record, std::vector<std::string>& environment) {
  const auto found = record.find("environment");
  if (found == record.end() || !found->is_array()) return Unreadable();
  for (const Json& entry : *found) {
    if (!entry.is_string()) return Unreadable();
    environment.push_back(entry.get<std::string>());
  }
  return {};
}

base::Status ReadSource(const Json& record, SourceKind& kind) {
  std::string name;
  SKERRY_RETURN_IF_ERROR(Read(record, "source", name));
  for (const auto& [each, word] : kSources) {
    if (word != name) continue;
    kind = each;
    return {};
  }
  return Unreadable();
}

}  // namespace

std::string_view NameOf(SourceKind kind) {
  for (const auto& [each, word] : kSources)
    if (each == kind) return word;
  return "";
}

std::string ToRecord(const Image& image) {
  const Json record = {{"name", image.name},
                       {"id", image.id},
                       {"source", NameOf(image.source)},
                       {"digest", image.digest},
                       {"size", image.size},
                       {"entries", image.entries},
                       {"skipped", image.skipped},
                       {"created", image.created},
                       {"environment", image.environment},
                       {"working_directory", image.working_directory}};
  return record.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

base::Result<Image> ParseRecord(std::string_view text) {
  const Json record = Json::parse(text, nullptr, false);
  if (!record.is_object()) return Unreadable();
  Image image;
  SKERRY_RETURN_IF_ERROR(Read(record, "name", image.name));
  SKERRY_RETURN_IF_ERROR(Read(record, "id", image.id));
  SKERRY_RETURN_IF_ERROR(ReadSource(record, image.source));
  SKERRY_RETURN_IF_ERROR(Read(record, "digest", image.digest));
  SKERRY_RETURN_IF_ERROR(Read(record, "size", image.size));
  SKERRY_RETURN_IF_ERROR(Read(record, "entries", image.entries));
  SKERRY_RETURN_IF_ERROR(Read(record, "skipped", image.skipped));
  SKERRY_RETURN_IF_ERROR(Read(record, "created", image.created));
  SKERRY_RETURN_IF_ERROR(ReadEnvironment(record, image.environment));
  SKERRY_RETURN_IF_ERROR(Read(record, "working_directory", image.working_directory));
  if (!base::IsSha256Hex(image.id)) return Unreadable();  // the id becomes part of a path
  return image;
}

}  // namespace skerry::image
