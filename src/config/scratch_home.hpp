// For tests: a home directory of its own, removed with everything in it.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "config/load.hpp"

namespace skerry::config {

class ScratchHome {
 public:
  ScratchHome() {
    std::string name = testing::TempDir() + "skerry-config-XXXXXX";
    path_ = ::mkdtemp(name.data()) == nullptr ? std::string() : name;
    std::filesystem::create_directories(path_ + "/.skerry");
  }
  ScratchHome(const ScratchHome&) = delete;
  ScratchHome& operator=(const ScratchHome&) = delete;
  ~ScratchHome() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string config_path() const { return path_ + "/.skerry/config.json"; }

  void Write(std::string_view text) const { std::ofstream(config_path(), std::ios::binary) << text; }

  [[nodiscard]] Sources SourcesHere() const {
    return {.config_path = {}, .home = path_, .environment = {}, .overrides = {}};
  }

 private:
  std::string path_;
};

// The message of a failed load of `text` as the default file, without the file's name; empty when it was accepted.
inline std::string ProblemWith(std::string_view text) {
  const ScratchHome home;
  home.Write(text);
  const auto loaded = Load(home.SourcesHere());
  if (loaded) return "";
  EXPECT_EQ(loaded.error().code, base::Code::kInvalidArgument);
  EXPECT_TRUE(loaded.error().message.starts_with(home.config_path() + ": ")) << loaded.error().message;
  return loaded.error().message.substr(home.config_path().size() + 2);
}

}  // namespace skerry::config
