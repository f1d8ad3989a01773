// Workers: interpreters that wait in a sandbox for a program, or keep their state between cells. A worker talks over
// its channel, a stream socket at descriptor 3, in fields that each end with a NUL; the programs of the workers are in
// src/interpreters/workers.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/backend.hpp"

namespace skerry::interpreters {

// The command line of a worker, for where it cannot be forked from a zygote. The channel is the worker's descriptor 3.
std::vector<std::string> WorkerArguments(core::Language language);

// An interpreter on the host that is forked into sandboxes.
struct ZygoteProgram {
  std::string name;
  std::vector<std::string> arguments;  // the first is the path of the program
  std::vector<std::string> environment;
  std::string text;  // the program that the zygote reads from descriptor 5
};

// Zygotes for the Python that a sandbox would find, one bare and one with the usual modules for data, if only root can
// change that Python. Else none: then Python is started anew each time.
std::vector<ZygoteProgram> PythonZygotes();

inline constexpr std::string_view kBareZygote = "python";
inline constexpr std::string_view kDataZygote = "python-data";

// Whether a program uses modules that the zygote for data has loaded.
bool UsesDataModules(std::string_view code);

// The messages to a worker.
std::string RunMessage(const std::string& directory, const std::vector<std::string>& environment,
                       const core::Code& code);
std::string CellsMessage(const std::string& directory, const std::vector<std::string>& environment);
// `environment` is set for this cell alone.
std::string CellMessage(std::uint64_t id, std::string_view text,
                        const std::map<std::string, std::string>& environment = {});
std::string DumpMessage(std::uint64_t id);
std::string LoadMessage(std::uint64_t id, std::string_view state);

// A message of a worker. The worker is a tenant's process: nothing that it says is trusted.
struct WorkerWord {
  enum class Kind { kReady, kFailed, kExit, kDisplay, kResult, kError, kState, kDone };
  Kind kind = Kind::kReady;
  std::vector<std::string> fields;  // as many as the kind has; display and result: mime, data, mime, data, …
};

// Cuts the bytes of a worker into words. After bytes that are no word, or more than `limit` bytes without the end of
// one, Broken() is true and no more words come.
class WorkerHearing {
 public:
  explicit WorkerHearing(std::size_t limit) : limit_(limit) {}

  void Hear(std::string_view bytes);
  std::optional<WorkerWord> Next();
  [[nodiscard]] bool Broken() const { return broken_; }

 private:
  std::optional<std::string> Field();
  std::size_t FieldsWanted();

  std::size_t limit_;
  std::string bytes_;
  std::size_t taken_ = 0;            // bytes of bytes_ that are taken
  std::size_t searched_ = 0;         // there is no NUL between taken_ and this: no byte is searched twice
  std::vector<std::string> fields_;  // of the word that is not complete yet, its name first
  std::size_t held_ = 0;             // bytes in fields_
  bool broken_ = false;
};

}  // namespace skerry::interpreters
