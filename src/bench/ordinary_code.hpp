// Made-up code that looks like what people write: the assessment of code is measured with it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/execution.hpp"

namespace skerry::bench {

// Functions, classes, comments and texts with changing words, which parse without an error. Always the same for the
// same arguments. Made of whole parts, so it is shorter than `bytes` by up to one part, about 1 KB.
std::string OrdinaryCode(core::Language language, std::size_t bytes);

// The parts of the code: the first stands at the beginning, the others follow again and again. __NOUN__, __OTHER__ and
// __VERB__ become words, __NUMBER__ a number, __INDEX__ a number that no other part has.
std::span<const std::string_view> PythonParts();
std::span<const std::string_view> JavaScriptParts();
std::span<const std::string_view> ShellParts();

}  // namespace skerry::bench
