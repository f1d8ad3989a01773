// The files of a workspace that a piece of code names: what runs depends on them as much as on the code.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/execution.hpp"

namespace skerry::engine {

struct NamedFilesQuery {
  core::Language language = core::Language::kPython;    // of the first text
  std::vector<std::string_view> texts;                  // the code, values of variables
  std::string_view directory;                           // where it begins; "" for the workspace
  std::uint64_t max_bytes = std::uint64_t{512} << 20U;  // that are read, of all files together
};

struct NamedFilesFound {
  std::map<std::string, std::string> files;  // path and SHA-256 of each; "" for one that was not read whole
  std::string unread;                        // a file that was not read whole, and why; "" for none
  bool all = true;                           // false: more is named than was looked at
  std::set<std::string> tools;               // programs it names that read files which nobody names
};

// Words that are the path of a regular file below `workspace` count, from there, from the directory, and from every
// directory that is named, with and without the endings that an import leaves out; so do what was compiled from them,
// what tools read by themselves (engine/implicit_inputs.hpp), and the files that those files name.
//
// Nothing but the content of a file stands for it. The work has bounds (1,024 files, 20,000 words, 2,000 directories,
// max_bytes) and ends when `stop` is asked for; what is beyond them is in `unread` and `all`.
NamedFilesFound NamedFiles(const NamedFilesQuery& query, int workspace, const std::stop_token& stop = {});

}  // namespace skerry::engine
