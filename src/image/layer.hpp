// One tar archive, maybe compressed, unpacked into a tree.
#pragma once

#include <string>

#include "base/result.hpp"
#include "image/import_budget.hpp"
#include "image/tree_writer.hpp"

namespace skerry::image {

struct LayerReport {
  std::string file_digest;     // SHA-256 of the file as it is, in hexadecimal
  std::string content_digest;  // the same of the uncompressed content
  TreeCounts counts;
};

enum class LayerPlace {
  kAlone,     // a whole root file system: `.wh.` means nothing
  kBottom,    // the first of several: there is nothing to hide
  kOnOthers,  // hides first, then adds, in whatever order the entries stand: a layer cannot hide its own entries
};

// Reads the file from its beginning to its end, once or (on others) twice.
base::Result<LayerReport> UnpackLayer(int file_fd, LayerPlace place, int root_fd, ImportBudget& budget);

}  // namespace skerry::image
