// The files of a workspace that a piece of code names: what runs depends on them as much as on the code.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace skerry::engine {

struct NamedFilesQuery {
  std::vector<std::string_view> texts;  // the code, values of variables
  std::string_view directory;           // where it begins; "" for the workspace
};

struct NamedFilesFound {
  std::map<std::string, std::string> files;  // path and digest of each
  bool all = true;                           // false: more is named than was looked at
};

// Words that are the path of a regular file below `workspace` count, from there, from the directory, and from every
// directory that is named, with and without the endings that an import leaves out; and so do the files that those files
// name. At most 256 files and 4,000 words. Of a file larger than 64 MB, and behind the first 256 MB, size and times
// stand for the content.
NamedFilesFound NamedFiles(const NamedFilesQuery& query, int workspace);

}  // namespace skerry::engine
