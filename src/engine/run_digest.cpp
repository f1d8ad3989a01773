#include "engine/run_digest.hpp"

namespace skerry::engine {

void DigestBuilder::AddField(std::string_view bytes) {
  hash_.Update(std::to_string(bytes.size()));
  hash_.Update(":");
  hash_.Update(bytes);
}

DigestBuilder& DigestBuilder::Add(std::string_view name, std::string_view value) {
  AddField(name);
  AddField(value);
  return *this;
}

DigestBuilder& DigestBuilder::Add(std::string_view name, std::uint64_t value) {
  return Add(name, std::to_string(value));
}

DigestBuilder& DigestBuilder::Add(std::string_view name, const std::vector<std::string>& values) {
  Add(name, static_cast<std::uint64_t>(values.size()));
  for (const std::string& value : values) AddField(value);
  return *this;
}

}  // namespace skerry::engine
