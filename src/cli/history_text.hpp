// The record of a session for people. Names of files and code are escaped, so that they cannot forge a line.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "core/history.hpp"

namespace skerry::cli {

// Changes of files, one line each: "+ new", "~ changed", "- removed"; the first twenty, and how many more.
std::string ChangesAsText(const std::vector<core::FileChange>& changes, std::string_view indent = "");

// A block of lines that ends with an empty one. `cause` says what led to the execution; "" for nothing.
std::string EntryAsText(const core::HistoryEntry& entry, std::string_view cause);

// The states of a file, each with what made it and from what, then the origins of those.
std::string FileHistoryAsText(const core::FileHistory& history);

// "312 ms", "2.5 s", "3 min 20 s"
std::string DurationAsText(std::chrono::nanoseconds time);

}  // namespace skerry::cli
