// Code as people write it, made up: what the assessment of code is measured with.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/execution.hpp"

namespace skerry::bench {

// Functions, classes, comments and texts with changing words, that parse without an error. Always the same for the same
// arguments. Whole parts only, so it is shorter than `bytes` by up to one of them, about 1 KB.
std::string OrdinaryCode(core::Language language, std::size_t bytes);

// What it is made of: the first part stands at the beginning, the others behind it again and again. __NOUN__, __OTHER__
// and __VERB__ become words, __NUMBER__ a number, __INDEX__ one that no other part has.
std::span<const std::string_view> PythonParts();
std::span<const std::string_view> JavaScriptParts();
std::span<const std::string_view> ShellParts();

}  // namespace skerry::bench
