#include "engine/local_code.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/unique_fd.hpp"
#include "engine/inside_path.hpp"
#include "workspace/beneath.hpp"

namespace skerry::engine {
namespace {

using core::Language;
using policy::CodeReference;
using workspace::JoinPath;

constexpr std::size_t kMostFiles = 256;
constexpr std::size_t kMostBytes = std::size_t{4} << 20U;
constexpr std::size_t kLargestFile = std::size_t{1} << 20U;
constexpr std::size_t kMostNames = 20'000;    // of one directory
constexpr std::size_t kMostDirectories = 32;  // of a variable
constexpr auto kJavaScriptEndings =
    std::to_array<std::string_view>({"", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"});

// Those of a search path that are in the workspace.
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

// Who reads a file that is started by its name.
struct Reader {
  std::optional<Language> language;
  bool is_foreign = false;
};

Reader ReaderOf(std::string_view text) {
  const std::string_view line = text.substr(0, std::min(text.find('\n'), std::size_t{256}));
  if (!line.starts_with("#!")) return {.language = Language::kShell};
  for (const std::string_view name : {"python", "pypy"})
    if (line.contains(name)) return {.language = Language::kPython};
  for (const std::string_view name : {"node", "deno", "bun", "tsx"})
    if (line.contains(name)) return {.language = Language::kJavaScript};
  const std::size_t last = line.find_last_not_of(" \t\r");
  const std::string_view trimmed = line.substr(0, last + 1);
  const bool is_shell = trimmed.ends_with("sh") || line.contains("sh ") || line.contains("/env -S sh");
  return is_shell ? Reader{.language = Language::kShell} : Reader{.is_foreign = true};
}

base::UniqueFd OpenToRead(int workspace, const std::string& path) {
  const base::UniqueFd found = OpenInside(workspace, path);
  if (!found.valid()) return {};
  const std::string through = "/proc/self/fd/" + std::to_string(found.get());
  return base::UniqueFd(::open(through.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

// Every text in it.
void CollectTexts(const nlohmann::json& value, std::size_t most, std::vector<std::string>& texts) {
  if (texts.size() >= most) return;
  if (value.is_string()) texts.push_back(value.get<std::string>());
  if (value.is_structured())
    for (const auto& each : value) CollectTexts(each, most, texts);
}

}  // namespace

LocalCode::LocalCode(int workspace, std::string_view directory, const std::map<std::string, std::string>& environment,
                     Bytecode bytecode)
    : workspace_(workspace), bytecode_(bytecode) {
  if (!TakeInside("", directory, directory_)) directory_.clear();
  commands_ = DirectoriesOf(environment, "PATH", directory_);
  modules_ = DirectoriesOf(environment, "PYTHONPATH", directory_);
  packages_ = DirectoriesOf(environment, "NODE_PATH", directory_);
}

std::vector<CodePiece> LocalCode::Find(const CodeReference& reference, const CodePlace& from) {
  if (workspace_ < 0) return {};
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
  return std::exchange(found_, {});
}

std::vector<CodePiece> LocalCode::FindStartFiles() {
  if (workspace_ < 0) return {};
  for (const std::string& root : modules_) FindStartFilesIn(root);
  return std::exchange(found_, {});
}

void LocalCode::FindStartFilesIn(const std::string& root) {
  for (const std::string_view name : {"sitecustomize", "usercustomize"}) FindPythonIn(root, name, {root, root});
}

// One more directory where code is looked for, from now on.
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
  if (HasDirectory(path)) {
    const CodePlace place{path, path};
    if (reference.language == Language::kPython) TakePythonFile(path, "__main__", place);
    if (reference.language == Language::kJavaScript) TakeJavaScript(path, place);
    return;
  }
  const std::string parent(workspace::ParentOf(path));
  // Node looks for endings of a script as well.
  if (reference.language == Language::kJavaScript && !HasFile(path)) {
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
  std::set<std::string> roots = {from.root, directory_};
  roots.insert(modules_.begin(), modules_.end());
  for (const std::string& root : roots) FindPythonIn(root, module, from);
}

// Every package on the way is run as well.
void LocalCode::FindPythonIn(const std::string& root, std::string_view module, const CodePlace& from) {
  std::string directory = root;
  if (module.empty()) TakePythonFile(directory, "__init__", from);
  while (!module.empty()) {
    const std::size_t dot = std::min(module.find('.'), module.size());
    const std::string_view part = module.substr(0, dot);
    module.remove_prefix(std::min(dot + 1, module.size()));
    if (part == "*") {
      // What such an import means is in a list that the package makes.
      const Names* names = NamesOf(directory);
      if (names == nullptr) return;
      for (const std::string& name : Names(*names))
        if (name.ends_with(".py")) Take(JoinPath(directory, name), Language::kPython, false, {directory, from.root});
      return;
    }
    TakePythonFile(directory, part, from);
    directory = JoinPath(directory, part);
    if (!HasDirectory(directory)) return;
    TakePythonFile(directory, "__init__", from);
  }
}

// Machine code comes before the source, bytecode without a source behind it.
bool LocalCode::TakePythonFile(const std::string& directory, std::string_view stem, const CodePlace& from) {
  const Names* names = NamesOf(directory);
  if (names == nullptr) return false;
  const std::string begin = std::string(stem) + ".";
  for (auto name = names->lower_bound(begin); name != names->end() && name->starts_with(begin); ++name)
    if (name->ends_with(".so")) Note(CodePiece::Form::kBinary, JoinPath(directory, *name));
  if (names->contains(begin + "py")) {
    NoteBytecode(directory, stem);
    return Take(JoinPath(directory, begin + "py"), Language::kPython, false, {directory, from.root});
  }
  if (names->contains(begin + "pyc")) Note(CodePiece::Form::kBinary, JoinPath(directory, begin + "pyc"));
  return names->contains(begin + "pyc");
}

void LocalCode::NoteBytecode(const std::string& directory, std::string_view stem) {
  const std::string compiled = JoinPath(directory, "__pycache__");
  const Names* names = NamesOf(compiled);
  if (names == nullptr) return;
  const std::string begin = std::string(stem) + ".";
  for (auto name = names->lower_bound(begin); name != names->end() && name->starts_with(begin); ++name)
    if (name->ends_with(".pyc") && StandsInFor(JoinPath(compiled, *name), JoinPath(directory, begin + "py")))
      Note(CodePiece::Form::kBinary, JoinPath(compiled, *name));
}

// Its head has four numbers: the version, whether it goes by the hash of the source, then that hash, or time and size.
bool LocalCode::StandsInFor(const std::string& bytecode, const std::string& source) const {
  constexpr std::uint32_t kByHash = 1;
  constexpr std::uint32_t kIsChecked = 2;
  const base::UniqueFd file = OpenToRead(workspace_, bytecode);
  std::array<std::uint32_t, 4> head{};
  if (!file.valid() || ::pread(file.get(), head.data(), sizeof(head), 0) != sizeof(head)) return false;
  if ((head[1] & kByHash) != 0 && (head[1] & kIsChecked) == 0) return true;
  if (bytecode_ == Bytecode::kOfPerson) return false;
  if ((head[1] & kByHash) != 0) return true;
  const base::UniqueFd original = OpenInside(workspace_, source);
  struct stat facts{};
  if (!original.valid() || ::fstat(original.get(), &facts) != 0) return false;
  return head[2] == static_cast<std::uint32_t>(facts.st_mtim.tv_sec) &&
         head[3] == static_cast<std::uint32_t>(facts.st_size);
}

// --- JavaScript ---

void LocalCode::FindJavaScript(std::string_view name, const CodePlace& from) {
  constexpr std::string_view kFile = "file://";
  if (name.starts_with("node:") || name.starts_with("data:")) return;
  if (name.starts_with(kFile)) name.remove_prefix(kFile.size());
  if (name.starts_with('#')) return Note(CodePiece::Form::kTooMuch, std::string(name));
  std::string path;
  if (name.starts_with("./") || name.starts_with("../") || name.starts_with('/') || name == "." || name == "..") {
    if (TakeInside(from.directory, name, path)) TakeJavaScript(path, from);
    return;
  }
  for (std::string_view directory = from.directory;; directory = workspace::ParentOf(directory)) {
    if (TakeInside(JoinPath(directory, "node_modules"), name, path) && TakeJavaScript(path, from)) return;
    if (directory.empty()) break;
  }
  for (const std::string& directory : packages_)
    if (TakeInside(directory, name, path) && TakeJavaScript(path, from)) return;
}

bool LocalCode::TakeJavaScript(const std::string& path, const CodePlace& from) {
  for (const std::string_view ending : kJavaScriptEndings) {
    const std::string file = path + std::string(ending);
    if (!HasFile(file) || file.ends_with(".json")) continue;
    const std::string parent(workspace::ParentOf(file));
    return Take(file, Language::kJavaScript, false, {parent, from.root});
  }
  if (HasFile(path + ".node")) {
    Note(CodePiece::Form::kBinary, path + ".node");
    return true;
  }
  return HasDirectory(path) && TakePackage(path, from);
}

// Whatever its description names is taken for what it begins with.
bool LocalCode::TakePackage(const std::string& directory, const CodePlace& from) {
  constexpr std::size_t kMostNamed = 16;
  if (!packages_met_.insert(directory).second) return true;
  bool any = false;
  if (const auto text =
          HasFile(JoinPath(directory, "package.json")) ? Read(JoinPath(directory, "package.json")) : std::nullopt) {
    const auto json = nlohmann::json::parse(*text, nullptr, false);
    std::vector<std::string> named;
    for (const char* key : {"main", "module", "exports"})
      if (json.is_object() && json.contains(key)) CollectTexts(json[key], kMostNamed, named);
    for (const std::string& name : named) {
      std::string path;
      if (TakeInside(directory, name, path) && path != directory) any = TakeJavaScript(path, from) || any;
    }
  }
  return TakeJavaScript(JoinPath(directory, "index"), from) || any;
}

// --- files ---

void LocalCode::Note(CodePiece::Form form, const std::string& path) {
  // That there is more than was looked at is said once.
  if (form == CodePiece::Form::kTooMuch && std::exchange(too_much_, true)) return;
  if (met_.insert(path).second) found_.push_back({.form = form, .path = path});
}

bool LocalCode::Take(const std::string& path, std::optional<Language> language, bool is_foreign,
                     const CodePlace& place) {
  if (!HasFile(path)) return false;
  if (met_.contains(path)) return true;
  if (++files_ > kMostFiles) {
    Note(CodePiece::Form::kTooMuch, path);
    return true;
  }
  auto text = Read(path);
  if (!text) {
    Note(CodePiece::Form::kTooMuch, path);
    return true;
  }
  // Machine code that is started by its name is a command as any other, which nobody knows.
  if (!IsText(*text)) {
    if (language) Note(CodePiece::Form::kBinary, path);
    return true;
  }
  const Reader reader = language || is_foreign ? Reader{language, is_foreign} : ReaderOf(*text);
  if (reader.is_foreign) {
    Note(CodePiece::Form::kForeign, path);
    return true;
  }
  met_.insert(path);
  found_.push_back({.path = path, .language = *reader.language, .text = *std::move(text), .place = place});
  return true;
}

std::optional<std::string> LocalCode::Read(const std::string& path) {
  const base::UniqueFd file = OpenToRead(workspace_, path);
  if (!file.valid()) return std::nullopt;
  std::string text(kLargestFile + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = ::pread(file.get(), text.data() + size, text.size() - size, static_cast<off_t>(size));
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  bytes_ += size;
  if (size > kLargestFile || bytes_ > kMostBytes) return std::nullopt;
  text.resize(size);
  return text;
}

const LocalCode::Names* LocalCode::NamesOf(const std::string& directory) {
  const auto [entry, is_new] = names_.try_emplace(directory);
  if (!is_new) return entry->second ? &*entry->second : nullptr;
  const base::UniqueFd place = OpenInside(workspace_, directory);
  if (!place.valid()) return nullptr;
  base::UniqueFd listing(::openat(place.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!listing.valid()) return nullptr;
  auto names = workspace::NamesIn(std::move(listing), kMostNames);
  if (!names) {
    Note(CodePiece::Form::kTooMuch, directory);
    return nullptr;
  }
  entry->second.emplace(names->begin(), names->end());
  return &*entry->second;
}

namespace {

mode_t TypeAt(int workspace, const std::string& path) {
  const base::UniqueFd found = OpenInside(workspace, path);
  struct stat status{};
  if (!found.valid() || ::fstat(found.get(), &status) != 0) return 0;
  return status.st_mode & S_IFMT;
}

}  // namespace

bool LocalCode::HasFile(const std::string& path) {
  return !path.empty() && TypeAt(workspace_, path) == S_IFREG;
}

bool LocalCode::HasDirectory(const std::string& path) {
  return TypeAt(workspace_, path) == S_IFDIR;
}

}  // namespace skerry::engine
