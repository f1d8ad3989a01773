// A workspace with files in it, and what is found about a run there.
#pragma once

#include <fcntl.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/unique_fd.hpp"
#include "engine/run_assessment.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::engine {

inline constexpr std::string_view kDangerousPython = "import subprocess\nsubprocess.run(['id'])\n";
inline constexpr std::string_view kDangerousJavaScript = "require('child_process').execSync('id')\n";
inline constexpr std::string_view kDangerousShell = "sudo id\n";

class RunAssessmentTest : public testing::Test {
 protected:
  using Language = core::Language;
  using Environment = std::map<std::string, std::string>;

  void Put(const std::string& path, std::string_view bytes) const {
    std::filesystem::create_directories((directory_.path() / path).parent_path());
    std::ofstream(directory_.path() / path, std::ios::binary) << bytes;
  }
  [[nodiscard]] core::RiskAssessment Of(Language language, std::string_view code, const Environment& environment = {},
                                        std::string_view directory = "", const RunInput& input = {}) const {
    return AssessRun(Gate(),
                     {.language = language,
                      .code = code,
                      .directory = directory,
                      .environment = environment,
                      .workspace = root_.get(),
                      .bytecode = bytecode_,
                      .input = input},
                     {}, {})
        .value();
  }
  // The assessment of a shell's cell after an earlier one.
  [[nodiscard]] core::RiskAssessment After(std::string_view before, std::string_view code) const {
    const Environment environment;
    return AssessRun(Gate(),
                     {.language = Language::kShell,
                      .code = code,
                      .before = before,
                      .environment = environment,
                      .workspace = root_.get(),
                      .input = {}},
                     {}, {})
        .value();
  }
  // Where the gravest finding stands.
  [[nodiscard]] std::string SourceOf(Language language, std::string_view code, const Environment& environment = {},
                                     std::string_view directory = "") const {
    const core::RiskAssessment risk = Of(language, code, environment, directory);
    if (!risk.requires_confirmation) return "(not asked about)";
    return risk.findings.front().source;
  }
  // Input that comes while the program runs.
  static inline const RunInput kUnknownInput{.end = core::InputEnd::kOpen};

  Bytecode bytecode_ = Bytecode::kOfSession;
  support::TemporaryDirectory outer_;
  struct Inner {
    std::filesystem::path inside;
    [[nodiscard]] const std::filesystem::path& path() const { return inside; }
  };
  Inner directory_ = [this] {
    std::filesystem::create_directories(outer_.path() / "workspace");
    return Inner{outer_.path() / "workspace"};
  }();
  base::UniqueFd root_{::open(directory_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

}  // namespace skerry::engine
