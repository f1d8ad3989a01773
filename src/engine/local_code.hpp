// LocalCode: the files of a workspace that a piece of code runs or imports. What the code does depends on them too, so
// they are assessed as well.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/execution.hpp"
#include "engine/code_files.hpp"
#include "engine/package_description.hpp"
#include "policy/code_reference.hpp"

namespace skerry::engine {

// Where code begins to look for other code.
struct CodePlace {
  std::string directory;  // of the code's own file, from the workspace
  std::string root;       // where its imports are looked for first: the directory of the script that runs
};

// A file that was found; each is found once.
struct CodePiece {
  enum class Form {
    kText,
    kForeign,  // in a language that cannot be analysed
    kBinary,   // no text
    kTooMuch,  // not read: there are more files than may be read
  };
  Form form = Form::kText;
  std::string path;
  core::Language language = core::Language::kShell;
  std::string text;
  CodePlace place;
};

// Whose bytecode lies beside the sources: Python would run it in their place, and it cannot be analysed.
enum class Bytecode {
  kOfPerson,   // a person's own programs made it; only bytecode that is never checked against its source counts
  kOfSession,  // programs of a session make none by themselves: all of it counts
};

// For one run: a file that was found is not found again. The work has bounds: 256 files, 1 MB each, 4 MB together, and
// a LookupBudget for all that is looked up.
class LocalCode {
 public:
  // `workspace` is the files as the program sees them, borrowed; -1 for none. `directory` is where the program begins;
  // `environment` gives PATH, PYTHONPATH and NODE_PATH. After a stop nothing is found any more.
  LocalCode(int workspace, std::string_view directory, const std::map<std::string, std::string>& environment,
            Bytecode bytecode, std::stop_token stop);

  // Where the code itself stands.
  [[nodiscard]] CodePlace Begin() const { return {directory_, directory_}; }
  // The files of the workspace that the code at `from` refers to.
  [[nodiscard]] std::vector<CodePiece> Find(const policy::CodeReference& reference, const CodePlace& from);
  // Files that run with any program of the language: those that Python runs before it, from the directories that
  // variables name, and those that take the place of modules of Python's library.
  [[nodiscard]] std::vector<CodePiece> FindStartFiles(core::Language language);

  [[nodiscard]] LookupBudget& budget() { return files_.budget(); }

 private:
  // Takes the files found so far; the last entry is kTooMuch when the search was cut short.
  std::vector<CodePiece> Found();

  void FindStartFilesIn(const std::string& root);
  void Search(const policy::CodeReference& reference);
  void FindModule(const policy::CodeReference& reference, const CodePlace& from);
  void FindScript(const policy::CodeReference& reference, std::string_view directory);
  void FindCommand(std::string_view name);

  void FindPython(std::string_view module, const CodePlace& from);
  void FindPythonIn(const std::string& root, std::string_view module, const CodePlace& from);
  void FindShadows(const std::string& root);
  bool TakePythonFile(const std::string& directory, std::string_view stem, const CodePlace& from);
  void NoteBytecode(const std::string& directory, std::string_view stem);
  [[nodiscard]] bool StandsInFor(const std::string& bytecode, const std::string& source);

  void FindJavaScript(std::string_view name, const CodePlace& from);
  void FindSpecifier(std::string_view name, const CodePlace& from);
  void FindPackage(std::string_view name, const CodePlace& from);
  void FindImport(std::string_view name, const CodePlace& from);
  bool TakeFromPackages(const std::string& packages, std::string_view name, const CodePlace& from);
  bool TakeTargets(const std::string& directory, const std::vector<std::string>& targets, const CodePlace& from);
  bool TakeJavaScript(const std::string& path, const CodePlace& from);
  bool TakePackage(const std::string& directory, const CodePlace& from);
  // The directory of the package.json that applies to `directory`; nothing where there is none.
  [[nodiscard]] std::optional<std::string> PackageAround(std::string_view directory);
  const PackageDescription& DescriptionIn(const std::string& directory);

  // Adds an existing file to the found ones.
  bool Take(const std::string& path, std::optional<core::Language> language, bool is_foreign, const CodePlace& place);
  void Note(CodePiece::Form form, const std::string& path);

  CodeFiles files_;
  Bytecode bytecode_;
  std::string directory_;
  std::vector<std::string> commands_;  // directories of PATH
  std::vector<std::string> modules_;   // of PYTHONPATH
  std::vector<std::string> packages_;  // of NODE_PATH
  std::set<std::string> met_;
  std::set<std::string> packages_met_;
  std::set<std::string> shadows_met_;
  std::map<std::string, PackageDescription> descriptions_;
  bool too_much_ = false;
  std::vector<CodePiece> found_;
  std::size_t taken_ = 0;
};

}  // namespace skerry::engine
