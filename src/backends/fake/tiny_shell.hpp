// TinyShell: the few commands that the sandboxes of tests understand by themselves, with no process and no kernel.
//
//   echo WORDS, cat [FILES], touch NAME, rm [-r] NAME, mkdir NAME, ls, true, false, sleep N, exit N,
//   head -c N /dev/zero, NAME=VALUE; $NAME in words, > and >> behind a command, ; and && and lines between commands
//
// Commands that TinyShell understands mean the same to bash.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/output_sink.hpp"
#include "core/process.hpp"

namespace skerry::backends::fake {

// The files that commands work on. Paths are relative to the workspace.
class TinyFiles {
 public:
  TinyFiles() = default;
  TinyFiles(const TinyFiles&) = delete;
  TinyFiles& operator=(const TinyFiles&) = delete;
  virtual ~TinyFiles() = default;

  virtual std::optional<std::string> Read(const std::string& path) = 0;
  enum class How { kReplace, kAppend };
  virtual bool Write(const std::string& path, std::string_view text, How how) = 0;
  virtual bool MakeDirectory(const std::string& path) = 0;
  virtual bool Remove(const std::string& path) = 0;
  virtual std::vector<std::string> Names() = 0;  // at the top, sorted
};

// What a program uses while it runs.
struct TinySurroundings {
  TinyFiles& files;
  std::map<std::string, std::string>& variables;
  std::function<void(core::Stream, std::string_view)> write;
  // The next bytes of the input; "" at its end. Nothing when the program must end.
  std::function<std::optional<std::string>()> read;
  // Nothing when it slept its time; else the outcome with which the program must end.
  std::function<std::optional<core::Outcome>(std::chrono::milliseconds)> sleep;
};

// Runs a program to its end. kNotFound for an unknown command, kInvalidArgument where there is none.
base::Result<core::Outcome> RunTinyProgram(const std::variant<core::Code, core::Arguments>& program,
                                           const TinySurroundings& around);

}  // namespace skerry::backends::fake
