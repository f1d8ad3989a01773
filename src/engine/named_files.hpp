// The files of a workspace that a piece of code names: what the code does depends on them too.
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
  std::string_view directory;                           // where the code begins; "" for the workspace
  std::uint64_t max_bytes = std::uint64_t{512} << 20U;  // the most that is read, of all files together
};

struct NamedFilesFound {
  std::map<std::string, std::string> files;  // path and SHA-256 of each; "" for one that was not read whole
  std::string unread;                        // a file that was not read whole, and why; "" for none
  bool all = true;                           // false: the code names more than was looked at
  std::set<std::string> tools;               // programs that the code names and that read files by themselves
};

// A word counts when it is the path of a regular file below `workspace`, from there, from the directory, or from any
// named directory, with or without the endings that an import leaves out. So do files compiled from a named one, files
// that tools read by themselves (engine/implicit_inputs.hpp), and the files that these files name.
//
// Only its content stands for a file. The work has bounds (1,024 files, 20,000 words, 2,000 directories, max_bytes) and
// ends when `stop` is asked for; `unread` and `all` tell what was beyond them.
NamedFilesFound NamedFiles(const NamedFilesQuery& query, int workspace, const std::stop_token& stop = {});

}  // namespace skerry::engine
