// What a program is given to read: text that is known before it runs, and what comes while it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/process.hpp"

namespace skerry::engine {

struct RunInput {
  std::string text;
  core::InputEnd end = core::InputEnd::kClosed;  // kOpen: more comes while the program runs, unknown before

  [[nodiscard]] bool IsKnown() const { return end == core::InputEnd::kClosed; }
};

// The digest of the whole input, for people and for digests: "" for none, and for an input that is not known.
[[nodiscard]] std::string DigestOf(const RunInput& input);
// The input itself, where it is known and not larger than this.
[[nodiscard]] std::optional<std::string_view> TextOf(const RunInput& input, std::size_t most);

}  // namespace skerry::engine
