#include "interpreters/worker.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <utility>

#include "interpreters/interpreter.hpp"

namespace skerry::interpreters {

// Made from the files of src/interpreters/workers by the build.
extern const std::string_view kPythonStreams;
extern const std::string_view kPythonWorker;
extern const std::string_view kPythonZygote;
extern const std::string_view kJavaScriptWorker;
extern const std::string_view kShellWorker;

namespace {

constexpr std::size_t kVaries = SIZE_MAX;
constexpr std::size_t kMostPairs = 64;

struct Form {
  std::string_view name;
  WorkerWord::Kind kind;
  std::size_t fields;
};

constexpr std::array kForms = {
    Form{"ready", WorkerWord::Kind::kReady, 0},         Form{"failed", WorkerWord::Kind::kFailed, 2},
    Form{"exit", WorkerWord::Kind::kExit, 1},           Form{"display", WorkerWord::Kind::kDisplay, kVaries},
    Form{"result", WorkerWord::Kind::kResult, kVaries}, Form{"error", WorkerWord::Kind::kError, 3},
    Form{"state", WorkerWord::Kind::kState, 3},         Form{"done", WorkerWord::Kind::kDone, 2}};

void AddField(std::string& message, std::string_view field) {
  message.append(field);
  message.push_back('\0');
}

std::string Start(std::string_view mode, const std::string& directory, const std::vector<std::string>& environment) {
  std::string message;
  AddField(message, mode);
  AddField(message, directory);
  AddField(message, std::to_string(environment.size()));
  for (const std::string& variable : environment) AddField(message, variable);
  return message;
}

std::string Joined(std::initializer_list<std::string_view> fields) {
  std::string message;
  for (const std::string_view field : fields) AddField(message, field);
  return message;
}

// Whether only root can change the file, or put another file of that name in its place.
bool OnlyRootChanges(const std::string& path) {
  const auto safe = [](const std::string& one) {
    struct stat facts{};
    return ::stat(one.c_str(), &facts) == 0 && facts.st_uid == 0 && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  };
  return safe(path) && safe(path.substr(0, path.find_last_of('/')));
}

std::string RealPath(const std::string& path) {
  std::array<char, PATH_MAX> real{};
  return ::realpath(path.c_str(), real.data()) != nullptr ? real.data() : "";
}

std::string PythonWorker() {
  return std::string(kPythonWorker) + std::string(kPythonStreams);
}

ZygoteProgram PythonZygote(const std::string& program, std::string_view name, std::string_view warm) {
  // Isolated: no variable or directory of a person is read.
  constexpr std::string_view kLoad = "import os; exec(os.pread(5, os.fstat(5).st_size, 0))";
  return {.name = std::string(name),
          .arguments = {program, "-I", "-c", std::string(kLoad)},
          // One thread: further threads would be missing in the children.
          .environment = {"LANG=C.UTF-8", "HOME=/", "PATH=/usr/local/bin:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE=1",
                          "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1", "NUMEXPR_NUM_THREADS=1"},
          .text = PythonWorker() + std::string(kPythonZygote) + "\nbecome_zygote('" + std::string(warm) + "')\n"};
}

bool IsWordPart(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '_';
}

}  // namespace

std::vector<std::string> WorkerArguments(core::Language language) {
  switch (language) {
    case core::Language::kPython:
      return {"python3", "-c", PythonWorker() + "\nserve(3, False)\n"};
    case core::Language::kJavaScript:
      return {"node", "--experimental-vm-modules", "-e", std::string(kJavaScriptWorker)};
    case core::Language::kShell:
      return {"bash", "-c", std::string(kShellWorker), "skerry"};
  }
  return {};
}

std::vector<ZygoteProgram> PythonZygotes() {
  const auto found = FindInterpreter(core::Language::kPython);
  const std::string program = found ? RealPath(*found) : "";
  if (!program.starts_with("/usr/") || !OnlyRootChanges(program)) return {};
  return {PythonZygote(program, kBareZygote, "bare"), PythonZygote(program, kDataZygote, "data")};
}

bool UsesDataModules(std::string_view code) {
  for (const std::string_view name : {"numpy", "pandas", "scipy", "sklearn", "seaborn", "matplotlib"}) {
    for (std::size_t at = code.find(name); at != std::string_view::npos; at = code.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      if ((at == 0 || !IsWordPart(code[at - 1])) && (end == code.size() || !IsWordPart(code[end]))) return true;
    }
  }
  return false;
}

std::string RunMessage(const std::string& directory, const std::vector<std::string>& environment,
                       const core::Code& code) {
  std::string message = Start("run", directory, environment);
  AddField(message, code.name);
  AddField(message, std::to_string(code.arguments.size()));
  for (const std::string& argument : code.arguments) AddField(message, argument);
  AddField(message, code.text);
  return message;
}

std::string CellsMessage(const std::string& directory, const std::vector<std::string>& environment) {
  return Start("cells", directory, environment);
}

std::string CellMessage(std::uint64_t id, std::string_view text,
                        const std::map<std::string, std::string>& environment) {
  std::string message;
  for (const auto& [name, value] : environment) message += Joined({"variable", name, value});
  return message + Joined({"cell", std::to_string(id), text});
}

std::string DumpMessage(std::uint64_t id) {
  return Joined({"dump", std::to_string(id)});
}

std::string LoadMessage(std::uint64_t id, std::string_view state) {
  return Joined({"load", std::to_string(id), state});
}

void WorkerHearing::Hear(std::string_view bytes) {
  if (!broken_) bytes_.append(bytes);
}

// Takes a field out of the bytes that have arrived. When a worker sends single bytes, earlier bytes are not searched
// again.
std::optional<std::string> WorkerHearing::Field() {
  const std::size_t end = bytes_.find('\0', searched_);
  if (end == std::string::npos) {
    bytes_.erase(0, taken_);
    taken_ = 0;
    searched_ = bytes_.size();
    broken_ = held_ + bytes_.size() > limit_;
    return std::nullopt;
  }
  std::string field = bytes_.substr(taken_, end - taken_);
  taken_ = searched_ = end + 1;
  held_ += field.size();
  broken_ = held_ > limit_;
  return field;
}

// How many fields the word has, as far as is known: first its name, then perhaps the number of pairs.
std::size_t WorkerHearing::FieldsWanted() {
  if (fields_.empty()) return 1;
  const auto form = std::ranges::find(kForms, fields_.front(), &Form::name);
  broken_ = broken_ || form == kForms.end();
  if (broken_) return 0;
  if (form->fields != kVaries) return 1 + form->fields;
  if (fields_.size() == 1) return 2;
  const std::string& pairs = fields_[1];
  std::size_t number = kMostPairs + 1;
  const auto [end, error] = std::from_chars(pairs.data(), pairs.data() + pairs.size(), number);
  broken_ = error != std::errc() || end != pairs.data() + pairs.size() || number > kMostPairs;
  return 2 + 2 * number;
}

std::optional<WorkerWord> WorkerHearing::Next() {
  std::size_t wanted = FieldsWanted();
  for (; !broken_ && fields_.size() < wanted; wanted = FieldsWanted()) {
    auto field = Field();
    if (!field) return std::nullopt;
    fields_.push_back(std::move(*field));
  }
  if (broken_) return std::nullopt;
  const auto form = std::ranges::find(kForms, fields_.front(), &Form::name);
  fields_.erase(fields_.begin(), fields_.begin() + (form->fields == kVaries ? 2 : 1));
  held_ = 0;
  return WorkerWord{form->kind, std::exchange(fields_, {})};
}

}  // namespace skerry::interpreters
