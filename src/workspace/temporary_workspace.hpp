// A workspace that is made for one run and burned with it (S1.6, one-shot).
#pragma once

#include <string>
#include <utility>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::workspace {

// Owns the directory; the destructor removes it and everything a program left in it.
class TemporaryWorkspace {
 public:
  // Makes `base_directory` (with its parents, for nobody else to look into) when it is not there. A base that another
  // user could exchange for something else is refused.
  static base::Result<TemporaryWorkspace> Create(const std::string& base_directory);

  TemporaryWorkspace(TemporaryWorkspace&& other) noexcept = default;
  TemporaryWorkspace& operator=(TemporaryWorkspace&&) = delete;
  TemporaryWorkspace(const TemporaryWorkspace&) = delete;
  TemporaryWorkspace& operator=(const TemporaryWorkspace&) = delete;
  ~TemporaryWorkspace();

  [[nodiscard]] const std::string& path() const { return path_; }  // real and absolute
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  TemporaryWorkspace(base::UniqueFd base, std::string name) : base_(std::move(base)), name_(std::move(name)) {}

  base::UniqueFd base_;
  std::string name_;
  base::UniqueFd fd_;
  std::string path_;
};

}  // namespace skerry::workspace
