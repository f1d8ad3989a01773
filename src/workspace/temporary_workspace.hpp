// A workspace that is made for one run and burned with it (S1.6, one-shot).
#pragma once

#include <string>

#include "base/result.hpp"

namespace skerry::workspace {

// Owns the directory; the destructor removes it and everything a program left in it.
class TemporaryWorkspace {
 public:
  // Makes `base_directory` (with its parents, for nobody else to look into) when it is not there.
  static base::Result<TemporaryWorkspace> Create(const std::string& base_directory);

  TemporaryWorkspace(TemporaryWorkspace&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryWorkspace& operator=(TemporaryWorkspace&&) = delete;
  TemporaryWorkspace(const TemporaryWorkspace&) = delete;
  TemporaryWorkspace& operator=(const TemporaryWorkspace&) = delete;
  ~TemporaryWorkspace();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit TemporaryWorkspace(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Makes a directory and its parents with mode 0700; one that is there is fine.
base::Status MakePrivateDirectory(const std::string& path);

}  // namespace skerry::workspace
