// What a record says about a file or link.
#pragma once

#include <string>

#include "base/result.hpp"
#include "core/record.hpp"
#include "workspace/beneath.hpp"

namespace skerry::workspace {

// SHA-256 of a file's content, or of a link's target. kConflict for anything else.
base::Result<std::string> DigestOfEntry(const Place& place);

// The record of a change: with size, mode and digest as they are now.
base::Result<core::FileChange> DescribeEntry(const std::string& path, const Place& place, core::FileAction action);

}  // namespace skerry::workspace
