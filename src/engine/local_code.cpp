#include "engine/local_code.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "engine/inside_path.hpp"
#include "engine/python_library.hpp"
#include "engine/script_reader.hpp"
#include "workspace/beneath.hpp"

namespace skerry::engine {
namespace {

using core::Language;
using policy::CodeReference;
using workspace::JoinPath;

constexpr std::size_t kMostFiles = 256;
constexpr std::size_t kLargestFile = std::size_t{1} << 20U;
constexpr std::size_t kMostDirectories = 32;     // of one variable
constexpr std::uint64_t kUnitsOfAReference = 8;  // besides the lookups for it

// The directories of a search path that are in the workspace.
std::vector<std::string> DirectoriesOf(const std::map<std::string, std::string>& environment, const std::string& name,
                                       std::string_view directory) {
  std::vector<std::string> directories;
  const auto variable = environment.find(name);
  if (variable == environment.end()) return directories;
  for (std::string_view rest = variable->second;; rest.remove_prefix(1)) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    std::string inside;
    if (TakeInside(directory, rest.substr(0, end), inside) && directories.size() < kMostDirectories)
      directories.push_back(std::move(inside));
    rest.remove_prefix(end);
    if (rest.empty()) return directories;
  }
}

bool IsText(std::string_view bytes) {
  return bytes.find('\0') == std::string_view::npos;
}

}  // namespace

LocalCode::LocalCode(int workspace, std::string_view directory, const std::map<std::string, std::string>& environment,
                     Bytecode bytecode, std::stop_token stop)
    : files_(workspace, std::move(stop)), bytecode_(bytecode) {
  // A program that begins outside of the workspace is searched for code as if it began at its root.
  if (!TakeInside("", directory, directory_)) directory_.clear();
  directory_ = files_.RealPath(directory_);
  commands_ = DirectoriesOf(environment, "PATH", directory_);
  modules_ = DirectoriesOf(environment, "PYTHONPATH", directory_);
  packages_ = DirectoriesOf(environment, "NODE_PATH", directory_);
}

std::vector<CodePiece> LocalCode::Find(const CodeReference& reference, const CodePlace& from) {
  if (!budget().Spend(kUnitsOfAReference)) return Found();
  switch (reference.kind) {
    case CodeReference::Kind::kSearchPath:
      Search(reference);
      break;
    case CodeReference::Kind::kScript:
      FindScript(reference, directory_);
      if (from.directory != directory_) FindScript(reference, from.directory);
      break;
    case CodeReference::Kind::kCommand:
      FindCommand(reference.name);
      break;
    case CodeReference::Kind::kModule: {
      FindModule(reference, from);
      std::string place;
      if (!reference.directory.empty() && TakeInside(directory_, reference.directory, place))
        FindModule(reference, {place, place});
      break;
    }
    case CodeReference::Kind::kInput:
      break;
  }
  return Found();
}

std::vector<CodePiece> LocalCode::FindStartFiles(Language language) {
  if (language == Language::kPython) FindShadows(directory_);
  for (const std::string& root : modules_) FindStartFilesIn(root);
  return Found();
}

std::vector<CodePiece> LocalCode::Found() {
  if (budget().IsOver()) Note(CodePiece::Form::kTooMuch, directory_);
  return std::exchange(found_, {});
}

void LocalCode::FindStartFilesIn(const std::string& root) {
  for (const std::string_view name : {"sitecustomize", "usercustomize"}) FindPythonIn(root, name, {root, root});
}

// Adds a directory in which code is looked for from now on.
void LocalCode::Search(const CodeReference& reference) {
  std::string place;
  if (!TakeInside(directory_, reference.name, place)) return;
  std::vector<std::string>& places = !reference.language                        ? commands_
                                     : *reference.language == Language::kPython ? modules_
                                                                                : packages_;
  if (std::ranges::find(places, place) != places.end()) return;
  if (places.size() >= kMostDirectories) return Note(CodePiece::Form::kTooMuch, place);
  places.push_back(place);
  if (reference.language == Language::kPython) FindStartFilesIn(place);
}

void LocalCode::FindModule(const CodeReference& reference, const CodePlace& from) {
  if (reference.language == Language::kPython) FindPython(reference.name, from);
  if (reference.language == Language::kJavaScript) FindJavaScript(reference.name, from);
}

void LocalCode::FindScript(const CodeReference& reference, std::string_view directory) {
  std::string path;
  if (!TakeInside(directory, reference.name, path)) return;
  if (files_.HasDirectory(path)) {
    const CodePlace place{path, path};
    if (reference.language == Language::kPython) TakePythonFile(path, "__main__", place);
    if (reference.language == Language::kJavaScript) TakeJavaScript(path, place);
    return;
  }
  // An interpreter looks beside the script itself, not beside a link to it.
  const std::string parent(workspace::ParentOf(files_.RealPath(path)));
  if (reference.language == Language::kPython) FindShadows(parent);
  // Node looks for endings of a script as well.
  if (reference.language == Language::kJavaScript && !files_.HasFile(path)) {
    TakeJavaScript(path, {parent, parent});
    return;
  }
  Take(path, reference.language, reference.is_foreign, {parent, parent});
}

void LocalCode::FindCommand(std::string_view name) {
  for (const std::string& directory : commands_) Take(JoinPath(directory, name), std::nullopt, false, Begin());
}

// --- Python ---

void LocalCode::FindPython(std::string_view module, const CodePlace& from) {
  std::size_t dots = 0;
  while (dots < module.size() && module[dots] == '.') ++dots;
  if (dots > 0) {
    std::string_view base = from.directory;
    for (std::size_t up = 1; up < dots; ++up) base = workspace::ParentOf(base);
    return FindPythonIn(std::string(base), module.substr(dots), from);
  }
  FindShadows(from.root);
  for (const std::string& root : modules_) FindShadows(root);
  std::set<std::string> roots = {from.root, directory_};
  roots.insert(modules_.begin(), modules_.end());
  for (const std::string& root : roots) FindPythonIn(root, module, from);
}

// Python also runs every package on the way to the module.
void LocalCode::FindPythonIn(const std::string& root, std::string_view module, const CodePlace& from) {
  std::string directory = root;
  if (module.empty()) TakePythonFile(directory, "__init__", from);
  while (!module.empty()) {
    const std::size_t dot = std::min(module.find('.'), module.size());
    const std::string_view part = module.substr(0, dot);
    module.remove_prefix(std::min(dot + 1, module.size()));
    if (part == "*") {
      // `import *` takes a list that the package makes, so every source in it counts.
      const CodeFiles::Names* names = files_.NamesOf(directory);
      if (names == nullptr) return;
      for (const std::string& name : *names)
        if (name.ends_with(".py")) Take(JoinPath(directory, name), Language::kPython, false, {directory, from.root});
      return;
    }
    TakePythonFile(directory, part, from);
    directory = JoinPath(directory, part);
    if (!files_.HasDirectory(directory)) return;
    TakePythonFile(directory, "__init__", from);
  }
}

// Modules of the library import this directory's file if it has the name of another library module, whatever the
// program itself imports.
void LocalCode::FindShadows(const std::string& root) {
  if (!shadows_met_.insert(root).second) return;
  const CodeFiles::Names* names = files_.NamesOf(root);
  if (names == nullptr) return;
  for (const std::string& name : *names) {
    const std::string stem = name.substr(0, name.find('.'));
    if (!IsPythonLibrary(stem)) continue;
    if (stem != name)
      TakePythonFile(root, stem, {root, root});
    else if (TakePythonFile(JoinPath(root, name), "__init__", {root, root}))
      FindPythonIn(root, name + ".*", {root, root});
  }
}

namespace {

// The first one after `begin`, an iterator over sorted names.
auto FirstOf(const CodeFiles::Names& names, std::string_view begin) {
  return std::ranges::lower_bound(names, begin, {}, [](const std::string& each) { return std::string_view(each); });
}

}  // namespace

// Python prefers machine code to the source, and takes bytecode when there is no source.
bool LocalCode::TakePythonFile(const std::string& directory, std::string_view stem, const CodePlace& from) {
  const CodeFiles::Names* names = files_.NamesOf(directory);
  if (names == nullptr) return false;
  const std::string begin = std::string(stem) + ".";
  const auto first = FirstOf(*names, begin);
  const auto last = std::find_if_not(first, names->end(), [&](const auto& name) { return name.starts_with(begin); });
  const auto native = std::find_if(first, last, [](const auto& name) { return name.ends_with(".so"); });
  if (native != last) Note(CodePiece::Form::kBinary, JoinPath(directory, *native));
  if (std::find(first, last, begin + "py") != last) {
    NoteBytecode(directory, stem);
    return Take(JoinPath(directory, begin + "py"), Language::kPython, false, {directory, from.root});
  }
  const bool is_compiled = std::find(first, last, begin + "pyc") != last;
  if (is_compiled) Note(CodePiece::Form::kBinary, JoinPath(directory, begin + "pyc"));
  return is_compiled || native != last;
}

void LocalCode::NoteBytecode(const std::string& directory, std::string_view stem) {
  const std::string compiled = JoinPath(directory, "__pycache__");
  const CodeFiles::Names* names = files_.NamesOf(compiled);
  if (names == nullptr) return;
  const std::string begin = std::string(stem) + ".";
  for (auto name = FirstOf(*names, begin); name != names->end() && name->starts_with(begin); ++name)
    if (name->ends_with(".pyc") && StandsInFor(JoinPath(compiled, *name), JoinPath(directory, begin + "py")))
      Note(CodePiece::Form::kBinary, JoinPath(compiled, *name));
}

// The head of bytecode has four numbers: the version, whether the hash of the source counts, then that hash, or time
// and size.
bool LocalCode::StandsInFor(const std::string& bytecode, const std::string& source) {
  constexpr std::uint32_t kByHash = 1;
  constexpr std::uint32_t kIsChecked = 2;
  const base::UniqueFd file = files_.Open(bytecode);
  std::array<std::uint32_t, 4> head{};
  if (!file.valid() || ::pread(file.get(), head.data(), sizeof(head), 0) != sizeof(head)) return false;
  if ((head[1] & kByHash) != 0 && (head[1] & kIsChecked) == 0) return true;
  if (bytecode_ == Bytecode::kOfPerson) return false;
  if ((head[1] & kByHash) != 0) return true;
  const auto facts = files_.FactsOf(source);
  return facts && head[2] == static_cast<std::uint32_t>(facts->st_mtim.tv_sec) &&
         head[3] == static_cast<std::uint32_t>(facts->st_size);
}

// --- files ---

void LocalCode::Note(CodePiece::Form form, const std::string& path) {
  // kTooMuch is reported once.
  if (form == CodePiece::Form::kTooMuch && std::exchange(too_much_, true)) return;
  if (met_.insert(path).second || form == CodePiece::Form::kTooMuch) found_.push_back({.form = form, .path = path});
}

bool LocalCode::Take(const std::string& path, std::optional<Language> language, bool is_foreign,
                     const CodePlace& place) {
  if (!files_.HasFile(path)) return false;
  if (met_.contains(path)) return true;
  auto text = ++taken_ > kMostFiles ? std::nullopt : files_.Read(path, kLargestFile);
  if (!text) {
    Note(CodePiece::Form::kTooMuch, path);
    return true;
  }
  // Machine code that is started by its name is like any other unknown command.
  if (!IsText(*text)) {
    if (language) Note(CodePiece::Form::kBinary, path);
    return true;
  }
  if (!language && !is_foreign) language = ReaderOf(*text);
  if (!language) {
    Note(CodePiece::Form::kForeign, path);
    return true;
  }
  met_.insert(path);
  found_.push_back({.path = path, .language = *language, .text = *std::move(text), .place = place});
  return true;
}

}  // namespace skerry::engine
