#include "engine/run_input.hpp"

#include "base/sha256.hpp"

namespace skerry::engine {

std::string DigestOf(const RunInput& input) {
  return input.IsKnown() && !input.text.empty() ? base::Sha256Hex(input.text) : std::string();
}

std::optional<std::string_view> TextOf(const RunInput& input, std::size_t most) {
  if (!input.IsKnown() || input.text.size() > most) return std::nullopt;
  return input.text;
}

}  // namespace skerry::engine
