#include "core/backend_registry.hpp"

#include <utility>

#include "base/utf8.hpp"

namespace skerry::core {

std::string_view NameOf(Preload kind) {
  switch (kind) {
    case Preload::kNone:
      return "none";
    case Preload::kShell:
      return "shell";
    case Preload::kPython:
      return "python";
    case Preload::kPythonData:
      return "python-data";
    case Preload::kJavaScript:
      return "javascript";
  }
  return "";
}

base::Status BackendRegistry::Add(std::unique_ptr<Backend> backend) {
  if (Find(backend->Name()).has_value())
    return base::Err(base::Code::kConflict, "backend '" + std::string(backend->Name()) + "' is registered twice");
  backends_.push_back(std::move(backend));
  return {};
}

base::Result<Backend*> BackendRegistry::Find(std::string_view name) const {
  std::string known;
  for (const auto& backend : backends_) {
    if (backend->Name() == name) return backend.get();
    known += (known.empty() ? "" : ", ") + std::string(backend->Name());
  }
  return base::Err(base::Code::kUnsupportedBackend,
                   "unknown sandbox '" + base::ToValidUtf8(name) + "'; there are: auto, " + known);
}

std::vector<Backend*> BackendRegistry::All() const {
  std::vector<Backend*> all;
  all.reserve(backends_.size());
  for (const auto& backend : backends_) all.push_back(backend.get());
  return all;
}

}  // namespace skerry::core
