// What an import has done so far, so that the import can be taken back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "workspace/agent_workspace.hpp"

namespace skerry::workspace {

// Unless Keep is called, the destructor takes everything back, from the last step to the first. A file or link that was
// replaced is held meanwhile under a private name, which no listing shows, and is back afterwards with its owner, its
// time and its other names.
class ImportUndo {
 public:
  explicit ImportUndo(AgentWorkspace& workspace);
  ImportUndo(const ImportUndo&) = delete;
  ImportUndo& operator=(const ImportUndo&) = delete;
  ~ImportUndo();

  // To be called after a file, link or directory was made where nothing was.
  void Made(std::string path);
  // To be called before the file or link at `path` is replaced. A link is moved away at once: the new file then takes
  // its place and is not written through it.
  base::Status Replacing(const std::string& path);

  void Keep();

 private:
  struct Step {
    std::string path;
    std::string saved;  // the name beside it of what was there; "" when nothing was
  };
  void TakeBack(const Step& step) const;

  AgentWorkspace& workspace_;
  std::string prefix_;
  std::vector<Step> steps_;
  bool kept_ = false;
};

}  // namespace skerry::workspace
