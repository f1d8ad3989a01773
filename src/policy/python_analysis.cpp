// The analysis of Python code: names are resolved to what they mean, then looked up in the table.
#include <algorithm>

#include "policy/code_analysis.hpp"
#include "policy/python_rules.hpp"
#include "policy/python_syntax.hpp"
#include "policy/python_values.hpp"
#include "policy/report.hpp"
#include "policy/shell_commands.hpp"
#include "policy/texts.hpp"

namespace skerry::policy {
namespace python {
namespace {

bool IsDunder(std::string_view name) {
  return name.size() > 4 && name.starts_with("__") && name.ends_with("__");
}

// In the mode of an archive the part behind a colon names its compression.
bool OpensForReading(std::string_view mode) {
  mode = mode.substr(0, mode.find_first_of(":|"));
  return mode.find_first_not_of("rbtU") == std::string_view::npos;
}

bool IsMode(std::string_view text) {
  return !text.empty() && text.size() <= 3 && text.find_first_not_of("rwaxbt+U") == std::string_view::npos;
}

// The code of doctest examples: `>>> …` and the `... …` below it.
std::string ExamplesIn(std::string_view text) {
  std::string code;
  bool inside = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    inside = line.starts_with(">>>") || (inside && line.starts_with("..."));
    if (!inside) continue;
    code += line.substr(std::min<std::size_t>(4, line.size()));
    code += '\n';
  }
  return code;
}

constexpr std::uint64_t kWorkOfACall = 16 * kWorkOfALookup;  // a call asks for so many names

TokenTable TheTable() {
  return {PythonNames(), "builtins"};
}

class Analysis : CodeAnalysis<Evaluation> {
 public:
  Analysis(const SyntaxTree& tree, Report& report) : CodeAnalysis(tree, TheTable(), report) {}

  void Run() {
    evaluation_.Run();
    for (NodeId id = 0; tree_.Reaches(id); ++id) ReportHandedOn(id);
    for (NodeId id = 0; tree_.Reaches(id); ++id) {
      if (tree_[id].error) ReportError(id);
      ReportNode(id);
    }
    if (runs_texts_) NestTexts();
  }

 private:
  void ReportNode(NodeId id) {
    switch (tree_[id].kind) {
      case kIdentifier:
        if (IsBrowserName(tree_.TextOf(id))) report_.NeedBrowser();
        return ReportUse(id);
      case kSubscript:
        ReportUse(id);
        ReportHiddenName(id);
        return ReportItem(id);
      case kString:
      case kConcatenatedString:
      case kBinaryOperator:
        return ReportHiddenName(id);
      case kStringStart:
        // `x` in backticks is an expression of Python 2, which the parser takes for a text.
        return tree_.TextOf(id).ends_with('`') ? ReportError(tree_[id].parent) : void();
      case kAttribute:
        ReportUse(id);
        return ReportMember(id);
      case kCall:
        ReportUse(id);
        ReportHiddenName(id);
        return ReportCall(id);
      case kImport:
      case kImportFrom:
        return ReportImport(id);
      case kExecStatement:
        Add(kPythonEval, id);
        return NestCode(tree_.Child(id, kFieldCode), core::Language::kPython);
      default:
        return;
    }
  }

  void ReportUse(NodeId id) {
    evaluation_.pool().ForEach(evaluation_.ValueOf(id), [&](Value value) {
      if (value.kind != Value::Kind::kName) return;
      if (const Rule* rule = names_.RuleFor(value.id, When::kUsed)) Add(*rule, id);
      const bool called = tree_[id].field == kFieldFunction;
      if (handed_on_ && !called && Is(value.id, "builtins", "getattr")) Add(kPythonReflection, id);
    });
  }

  void ReportMember(NodeId id) {
    const NodeId name = tree_.Child(id, kFieldAttribute);
    const NodeId object = tree_.Child(id, kFieldObject);
    if (name == kNoNode || object == kNoNode) return;
    const std::string_view word = evaluation_.Normal(tree_.TextOf(name));
    // A class that overrides __getattribute__ calls it so.
    if (word == "__getattribute__" && tree_.Is(object, "super()")) return;
    if (const Rule* rule = names_.RuleForWord(word, When::kMember)) Add(*rule, id);
    const bool looks = tree_[id].field == kFieldFunction && (TakesItem(word) || word == "keys");
    if (!looks && IsModuleTable(object)) Add(kPythonReflection, id);
  }

  // vars(os), os.__dict__; the tables of the running code itself are often looked at for good reasons.
  [[nodiscard]] bool IsModuleTable(NodeId id) const {
    const NodeId name = tree_.Child(id, kFieldAttribute);
    const bool table = tree_[id].kind == kCall || (name != kNoNode && tree_.TextOf(name) == "__dict__");
    return table && IsTable(id) && evaluation_.ValueOf(id).id != names_.Root("builtins");
  }

  static bool TakesItem(std::string_view method) {
    return method == "get" || method == "pop" || method == "setdefault" || method == "__getitem__";
  }

  void ReportHandedOn(NodeId id) {
    const Value whole = evaluation_.ValueOf(id);
    if (whole.kind == Value::Kind::kUnknown || !IsHandedOn(tree_, id)) return;
    evaluation_.pool().ForEach(whole, [&](Value value) {
      if (value.kind != Value::Kind::kName || !names_.Has(value.id, When::kHandedOn)) return;
      // f(**locals()) hands on what the code itself has named.
      if (tree_[id].kind == kCall && value.id == names_.Root("builtins")) return;
      const Rule* rule = names_.RuleFor(value.id, When::kHandedOn);
      if (rule->explanation.empty()) {
        handed_on_ = true;
        if (IsModuleTable(id)) Add(kPythonReflection, id);
      } else {
        Add(*rule, id);
      }
    });
  }

  // A text that is put together from parts, and is a name that no honest code puts together.
  void ReportHiddenName(NodeId id) {
    const std::string* text = AssembledText(id);
    if (text == nullptr || (tree_[id].kind == kString && IsOnePart(id))) return;
    if (IsCriticalName(*text)) Add(kPythonReflection, id);
  }

  // f"{x}" is only x: nothing is put together.
  [[nodiscard]] bool IsOnePart(NodeId text) const {
    int parts = 0;
    for (NodeId each = tree_.FirstChild(text); each != kNoNode && parts < 2; each = tree_.NextSibling(each))
      parts += tree_[each].kind == kStringContent || tree_[each].kind == kInterpolation ? 1 : 0;
    return parts < 2;
  }

  [[nodiscard]] bool IsCriticalName(std::string_view name) const {
    return IsCriticalMember("builtins", name) || IsCriticalMember("os", name) ||
           names_.Has(names_.Root(name), When::kHandedOn);
  }

  [[nodiscard]] bool IsCriticalMember(std::string_view module, std::string_view name) const {
    const Rule* rule = names_.RuleFor(names_.Member(names_.Root(module), name), When::kUsed);
    return rule != nullptr && rule->level == core::RiskLevel::kCritical;
  }

  // An item of a module's table, by a key that is only known when the code runs.
  void ReportItem(NodeId id) {
    const NodeId object = tree_.Child(id, kFieldValue);
    const NodeId key = tree_.Child(id, kFieldSubscript);
    if (object == kNoNode || key == kNoNode || tree_[id].field == kFieldLeft) return;
    if (IsTable(object) && !IsKnownText(key)) Add(kPythonReflection, id);
    const bool called = handed_on_ && tree_[id].field == kFieldFunction;
    if (called && IsCriticalMember("os", TextOf(key).value_or(""))) Add(kPythonReflection, id);
  }

  // sys.modules does not count: sys.modules[__name__] is common.
  [[nodiscard]] bool IsTable(NodeId object) const {
    bool is = false;
    evaluation_.pool().ForEach(evaluation_.ValueOf(object), [&](Value value) {
      is |= value.kind == Value::Kind::kName && names_.Has(value.id, When::kHandedOn) &&
            !Is(value.id, "sys", "modules") && !Is(value.id, "builtins", "open");
    });
    return is;
  }

  // --- imports ---

  void ReportImport(NodeId id) {
    const NodeId module = tree_.Child(id, kFieldModuleName);
    const auto text = [&](NodeId name) { return evaluation_.Normal(tree_.TextOf(name)); };
    if (module != kNoNode) ReportModule(text(module), id);
    for (NodeId each = tree_.FirstNamedChild(id); each != kNoNode; each = tree_.NextNamedSibling(each)) {
      if (each == module) continue;
      if (tree_[each].kind == kWildcardImport && module != kNoNode) Refer(std::string(text(module)) + ".*", id);
      const NodeId name = tree_[each].kind == kAliasedImport ? tree_.Child(each, kFieldName) : each;
      if (name == kNoNode || tree_[name].kind != kDottedName) continue;
      if (module == kNoNode) {
        ReportModule(text(name), id);
      } else {
        // The module of an import may be a dot, or end with one.
        std::string whole(text(module));
        if (!whole.ends_with('.')) whole += '.';
        ReportModule(whole + std::string(text(name)), id);
      }
    }
  }

  void Refer(std::string module, NodeId id) {
    report_.Refer(
        {.kind = CodeReference::Kind::kModule, .language = core::Language::kPython, .name = std::move(module)},
        tree_[id].begin);
  }

  // Every package on the way to the module is imported, too.
  void ReportModule(std::string_view dotted, NodeId id) {
    Refer(std::string(dotted), id);
    ReportOrganisationModule(dotted, id);
    const Rule* found = nullptr;
    NameId name = kNoName;
    for (std::string_view rest = dotted; !rest.empty();) {
      const std::size_t dot = rest.find('.');
      name = names_.Member(name, rest.substr(0, dot));
      if (name == kNoName) break;
      if (const Rule* rule = names_.RuleFor(name, When::kImported)) found = rule;
      if (names_.Has(name, When::kHarmless)) found = nullptr;
      if (const Rule* rule = names_.RuleFor(name, When::kUsed)) Add(*rule, id);
      rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
    }
    if (found != nullptr) Add(*found, id);
  }

  void ReportOrganisationModule(std::string_view dotted, NodeId id) {
    const auto& modules = report_.extras().modules;
    for (std::size_t end = 0; end != std::string_view::npos;) {
      end = dotted.find('.', end + 1);
      const auto found = modules.find(dotted.substr(0, end));
      if (found != modules.end()) Add(kPythonOrganisationModule[static_cast<std::size_t>(found->second)], id);
    }
  }

  // --- calls ---

  void ReportCall(NodeId id) {
    const NodeId function = tree_.Child(id, kFieldFunction);
    if (function == kNoNode) return;
    bool known = false;
    evaluation_.pool().ForEach(evaluation_.ValueOf(function), [&](Value value) {
      known |= value.kind == Value::Kind::kName || value.kind == Value::Kind::kForeign;
      if (value.kind == Value::Kind::kName) ReportCallOf(value.id, id);
    });
    if (tree_[function].kind == kAttribute) ReportMethod(id, function, known);
  }

  [[nodiscard]] bool Is(NameId name, std::string_view root, std::string_view member) const {
    return name != kNoName && name == names_.Member(names_.Root(root), member);
  }

  void ReportCallOf(NameId name, NodeId id) {
    tree_.budget().Spend(kWorkOfACall);
    if (const Rule* rule = names_.RuleFor(name, When::kCalled)) Add(*rule, id);
    if (names_.Has(name, When::kRunsCode)) ReportRunsCode(name, id);
    if (names_.Has(name, When::kRunsShell)) NestCode(evaluation_.Argument(id, 0, "cmd"), core::Language::kShell);
    if (names_.Has(name, When::kRunsArgv)) NestArgv(evaluation_.Argument(id, 0, "args"));
    if (names_.Has(name, When::kImports)) ReportImportOfText(id);
    runs_texts_ |= names_.Has(name, When::kRunsTexts);
    if (Is(name, "builtins", "open")) ReportOpen(id, 1);
    if (Is(name, "argparse", "FileType")) ReportOpenMethod(id);
    if (Is(name, "numpy", "load")) ReportOption(id, 2, "allow_pickle", kPythonUnpickle);
    if (Is(name, "fileinput", "input") || Is(name, "fileinput", "FileInput"))
      ReportOption(id, 1, "inplace", kPythonFileWrite);
    if (Is(name, "builtins", "getattr") || Is(name, "builtins", "setattr"))
      ReportReflection(id, evaluation_.Argument(id, 0, ""), evaluation_.Argument(id, 1, ""));
    if (Is(name, "operator", "attrgetter") || Is(name, "operator", "methodcaller"))
      ReportReflection(id, kNoNode, evaluation_.Argument(id, 0, ""));
    if (Is(name, "importlib", "import_module") || Is(name, "builtins", "__import__")) {
      const NodeId module = evaluation_.Argument(id, 0, "name");
      if (module != kNoNode)
        evaluation_.ForEachText(evaluation_.ValueOf(module), [&](const std::string& text) { ReportModule(text, id); });
    }
  }

  void ReportImportOfText(NodeId id) {
    for (const std::string_view keyword : {"module", "package", "thing"}) {
      const NodeId module = evaluation_.Argument(id, 0, keyword);
      if (module == kNoNode) continue;
      evaluation_.ForEachText(evaluation_.ValueOf(module), [&](const std::string& text) { ReportModule(text, id); });
      return;
    }
  }

  // An option that makes the call graver, unless it is False.
  void ReportOption(NodeId id, std::size_t place, std::string_view keyword, const Rule& rule) {
    const NodeId option = evaluation_.Argument(id, place, keyword);
    if (option != kNoNode && !tree_.Is(option, "False")) Add(rule, id);
  }

  void ReportRunsCode(NameId name, NodeId id) {
    const NodeId code = evaluation_.Argument(id, 0, "stmt");
    NestCode(code, core::Language::kPython);
    if (names_.RuleFor(name, When::kUsed) != nullptr) return;
    // A function in place of the text is no code.
    NestCode(evaluation_.Argument(id, 1, "setup"), core::Language::kPython);
    if (code == kNoNode || tree_[code].kind == kLambda) return;
    if (evaluation_.ValueOf(code).kind == Value::Kind::kUnknown || !TextOf(code).value_or("").empty())
      Add(kPythonEval, id);
  }

  void ReportOpen(NodeId id, std::size_t place) {
    const NodeId file = evaluation_.Argument(id, 0, "file");
    if (file != kNoNode && IsHarmless(file)) return;
    const NodeId mode = evaluation_.Argument(id, place, "mode");
    bool reads = mode == kNoNode ? !evaluation_.HasSplat(id) : IsKnownText(mode);
    if (mode != kNoNode)
      evaluation_.ForEachText(evaluation_.ValueOf(mode),
                              [&](const std::string& text) { reads = reads && OpensForReading(text); });
    Add(reads ? kPythonFileRead : kPythonFileWrite, id);
  }

  // A reflective access to a member: by a hidden name, on any object; by an unknown name, on an object of the table, or
  // on any object when a module was handed on and may be that object.
  void ReportReflection(NodeId id, NodeId object, NodeId name) {
    const Value of = object == kNoNode ? Value{} : evaluation_.ValueOf(object);
    bool of_known = false;
    evaluation_.pool().ForEach(
        of, [&](Value value) { of_known |= value.kind == Value::Kind::kName && names_.HoldsGrave(value.id); });
    const bool known = name != kNoNode && IsKnownText(name);
    const bool any_object = of.kind == Value::Kind::kUnknown && handed_on_;
    if (!known && (of_known || any_object)) Add(kPythonReflection, id);
    if (name == kNoNode) return;
    evaluation_.ForEachText(evaluation_.ValueOf(name), [&](const std::string& text) {
      if (IsDunder(text)) Add(kPythonReflection, id);
      if (const Rule* rule = names_.RuleForWord(text, When::kMember)) Add(*rule, id);
      if (any_object && (IsCriticalMember("os", text) || IsCriticalMember("builtins", text)))
        Add(kPythonReflection, id);
    });
  }

  [[nodiscard]] bool IsHarmless(NodeId object) const {
    bool harmless = false;
    evaluation_.pool().ForEach(evaluation_.ValueOf(object), [&](Value value) {
      harmless |= value.kind == Value::Kind::kName && names_.Has(value.id, When::kHarmless);
    });
    return harmless;
  }

  void ReportMethod(NodeId id, NodeId function, bool known) {
    const NodeId object = tree_.Child(function, kFieldObject);
    const NodeId label = tree_.Child(function, kFieldAttribute);
    if (object == kNoNode || label == kNoNode) return;
    const std::string_view method = evaluation_.Normal(tree_.TextOf(label));
    bool harmless = known || IsHarmless(object) || (IsSelf(object) && evaluation_.IsOwnMethod(method));
    evaluation_.pool().ForEach(evaluation_.ValueOf(object), [&](Value value) {
      harmless |= value.kind == Value::Kind::kForeign || evaluation_.TextOf(value).has_value();
    });
    const NodeId key = evaluation_.Argument(id, 0, "");
    if (TakesItem(method) && IsTable(object) && (key == kNoNode || !IsKnownText(key))) Add(kPythonReflection, id);
    ReportRunsUnknown(id, object, method);
    if (const Rule* rule = names_.RuleForWord(method, When::kFunction)) Add(*rule, id);
    ReportLibraryWrite(id, method);
    ReportUnpacking(id, object, method);
    if (method == "open" && !IsHarmless(object)) ReportOpenMethod(id);
    if (harmless) return;
    if (const Rule* rule = names_.RuleForWord(method, When::kMethod)) Add(*rule, id);
  }

  // A method with the name of a command runner on an unknown object, in a program that has the module: the object may
  // be that module, which came as an argument or out of a list.
  void ReportRunsUnknown(NodeId id, NodeId object, std::string_view method) {
    if (evaluation_.ValueOf(object).kind != Value::Kind::kUnknown || (IsSelf(object) && !handed_on_)) return;
    const NodeId label = tree_.Child(object, kFieldAttribute);
    const bool named_os = label != kNoNode && (tree_.TextOf(label) == "os" || tree_.TextOf(label) == "_os");
    if (!IsCriticalMember("os", method) || !(named_os || evaluation_.Mentions(names_.Root("os")))) return;
    const NameId member = names_.Member(names_.Root("os"), method);
    Add(*names_.RuleFor(member, When::kUsed), id);
    if (names_.Has(member, When::kRunsShell)) NestCode(evaluation_.Argument(id, 0, "cmd"), core::Language::kShell);
  }

  [[nodiscard]] bool IsSelf(NodeId object) const { return tree_.Is(object, "self") || tree_.Is(object, "cls"); }

  // Path.open has the mode as its first argument. Other methods called open have other arguments.
  void ReportOpenMethod(NodeId id) {
    const auto mode = TextOf(evaluation_.Argument(id, 0, "mode"));
    if (mode && IsMode(*mode)) Add(OpensForReading(*mode) ? kPythonFileRead : kPythonFileWrite, id);
  }

  // Columns of texts also have methods of these names: `.str.extractall(…)`.
  void ReportUnpacking(NodeId id, NodeId object, std::string_view method) {
    if (method != "extractall" && method != "extract") return;
    const NodeId label = tree_.Child(object, kFieldAttribute);
    const bool of_column = label != kNoNode && tree_.Is(label, "str");
    const bool has_archives =
        evaluation_.Mentions(names_.Root("tarfile")) || evaluation_.Mentions(names_.Root("zipfile"));
    if (has_archives && !of_column) Add(kPythonWriteCall, id);
  }

  void ReportLibraryWrite(NodeId id, std::string_view method) {
    constexpr auto kWriters = std::to_array<std::string_view>(
        {"to_csv", "to_excel", "to_parquet", "to_json", "to_pickle", "to_html", "to_feather", "to_hdf", "to_sql",
         "savefig", "save", "savez", "savetxt", "imwrite", "write_image", "write_html", "to_markdown", "to_latex"});
    if (std::ranges::find(kWriters, method) == kWriters.end()) return;
    // Without a place to write to, these methods give a text, or are other methods.
    if (evaluation_.Argument(id, 0, "path") != kNoNode || evaluation_.HasSplat(id)) Add(kPythonLibraryWrite, id);
  }

  // --- code in code ---

  // Texts that something else may run: examples for doctest, annotations, names in a configuration.
  void NestTexts() {
    NodeId after_type = 0;
    for (NodeId id = 0; tree_.Reaches(id); ++id) {
      if (tree_[id].kind == kType) after_type = std::max(after_type, tree_[id].after);
      if (tree_[id].kind != kString) continue;
      if (id < after_type) NestCode(id, core::Language::kPython);
      const std::string text = evaluation_.LiteralText(id);
      tree_.budget().Spend(WorkOfReading(text.size()) + 2 * kWorkOfALookup);
      if (const std::string code = ExamplesIn(text); !code.empty())
        report_.Nest(core::Language::kPython, Filled(code, "unknown"), tree_[id].begin);
      if (const Rule* rule = RuleForDotted(text); rule != nullptr && rule->level == core::RiskLevel::kCritical)
        Add(*rule, id);
    }
  }

  [[nodiscard]] const Rule* RuleForDotted(std::string_view dotted) const {
    const Value value = dotted.contains('.') ? evaluation_.ModuleNamed(dotted) : Value{};
    return value.kind == Value::Kind::kName ? names_.RuleFor(value.id, When::kUsed) : nullptr;
  }

  // A list of words, or a text that a shell may read.
  void NestArgv(NodeId id) {
    if (id == kNoNode) return;
    if (tree_[id].kind != kList && tree_[id].kind != kTuple) return NestCode(id, core::Language::kShell);
    Words words;
    AddWords(id, words);
    AnalyseCommand(words, tree_[id].begin, report_);
  }

  bool handed_on_ = false;   // a module was handed on to where the analysis does not follow it
  bool runs_texts_ = false;  // the code runs texts that stand elsewhere
};

// The code with plain line ends: for Python a carriage return ends a line, and a comment with it.
std::string WithPlainLines(std::string_view code) {
  std::string plain(code);
  for (std::size_t at = plain.find('\r'); at != std::string::npos; at = plain.find('\r', at + 1))
    if (at + 1 == plain.size() || plain[at + 1] != '\n') plain[at] = '\n';
  return plain;
}

// `# coding: utf-7` in the first two lines: the bytes of a comment can then be code.
void ReportEncoding(std::string_view code, Report& report) {
  constexpr auto kPlain =
      std::to_array<std::string_view>({"utf-8", "utf8", "UTF-8", "utf_8", "utf-8-sig", "ascii", "us-ascii", "latin-1",
                                       "latin1", "iso-8859-1", "iso-8859-15", "cp1252"});
  for (int line = 0; line < 2; ++line) {
    const std::size_t end = std::min(code.find('\n'), code.size());
    const std::string_view text = code.substr(0, end);
    const std::size_t at = text.find("coding");
    if (text.substr(0, at).find('#') != std::string_view::npos && at != std::string_view::npos) {
      std::string_view name = text.substr(at + 6);
      if (name.starts_with(':') || name.starts_with('=')) {
        name.remove_prefix(std::min(name.find_first_not_of(" \t", 1), name.size()));
        name = name.substr(0, name.find_first_of(" \t\r;"));
        if (std::ranges::find(kPlain, name) == kPlain.end()) report.AddText(kPythonEncoding, 0, text);
      }
    }
    code.remove_prefix(std::min(end + 1, code.size()));
  }
}

}  // namespace
}  // namespace python

void AnalysePython(std::string_view text, Report& report) {
  const std::string code = python::WithPlainLines(text);
  python::ReportEncoding(code, report);
  const SyntaxTree tree = SyntaxTree::Parse(python::TheVocabulary(), code, report.budget());
  if (tree.complete()) python::Analysis(tree, report).Run();
  ReportWhatIsLeft(tree, code, python::TheTable(), report);
}

}  // namespace skerry::policy
