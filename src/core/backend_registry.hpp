// Backends by name. Filled by main; a new backend changes nothing here.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/backend.hpp"

namespace skerry::core {

class BackendRegistry {
 public:
  // kConflict when the name is taken.
  base::Status Add(std::unique_ptr<Backend> backend);

  // kUnsupportedBackend for an unknown name; the message lists the known ones.
  [[nodiscard]] base::Result<Backend*> Find(std::string_view name) const;
  [[nodiscard]] std::vector<Backend*> All() const;

 private:
  std::vector<std::unique_ptr<Backend>> backends_;
};

}  // namespace skerry::core
