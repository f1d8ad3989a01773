// Names that cannot be guessed and need no escaping anywhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace skerry::base {

std::uint64_t RandomU64();

// `prefix` and 16 lower-case letters or digits from the kernel's generator (about 82 bits).
std::string RandomId(std::string_view prefix);

}  // namespace skerry::base
