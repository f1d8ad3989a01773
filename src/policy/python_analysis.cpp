// The analysis of Python code: names are followed to what they mean, then held against the table.
#include <algorithm>
#include <set>

#include "policy/python_rules.hpp"
#include "policy/python_syntax.hpp"
#include "policy/python_values.hpp"
#include "policy/report.hpp"
#include "policy/shell_commands.hpp"
#include "policy/texts.hpp"
#include "policy/tokens.hpp"

namespace skerry::policy {
namespace python {
namespace {

bool IsDunder(std::string_view name) {
  return name.size() > 4 && name.starts_with("__") && name.ends_with("__");
}

bool OpensForReading(std::string_view mode) {
  return mode.find_first_not_of("rbtU") == std::string_view::npos;
}

bool IsMode(std::string_view text) {
  return !text.empty() && text.size() <= 3 && text.find_first_not_of("rwaxbt+U") == std::string_view::npos;
}

class Analysis {
 public:
  Analysis(const SyntaxTree& tree, Report& report)
      : tree_(tree), names_(PythonNames()), evaluation_(tree, names_), report_(report) {}

  void Run() {
    evaluation_.Run();
    for (NodeId id = 0; id < tree_.size(); ++id) {
      if (tree_[id].error) ReportError(id);
      ReportNode(id);
    }
  }

 private:
  void Add(const Rule& rule, NodeId id) { report_.Add(rule, tree_.text(), tree_[id].begin, tree_[id].end); }

  void ReportError(NodeId id) {
    const NodeId parent = tree_[id].parent;
    if (parent != kNoNode && tree_[parent].error) return;
    Add(kUnparsed, id);
    ReportTokens(tree_.TextOf(id), tree_[id].begin, {names_, "builtins"}, report_);
  }

  void ReportNode(NodeId id) {
    switch (tree_[id].kind) {
      case kIdentifier:
        if (IsBrowserName(tree_.TextOf(id))) report_.NeedBrowser();
        return ReportUse(id);
      case kSubscript:
        return ReportUse(id);
      case kAttribute:
        ReportUse(id);
        return ReportMember(id);
      case kCall:
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
    });
  }

  void ReportMember(NodeId id) {
    const NodeId name = tree_.Child(id, kFieldAttribute);
    if (name == kNoNode) return;
    if (const Rule* rule = names_.RuleForWord(evaluation_.Normal(tree_.TextOf(name)), When::kMember)) Add(*rule, id);
  }

  // --- imports ---

  void ReportImport(NodeId id) {
    const NodeId module = tree_.Child(id, kFieldModuleName);
    if (module != kNoNode) ReportModule(tree_.TextOf(module), id);
    for (NodeId each = tree_.FirstNamedChild(id); each != kNoNode; each = tree_.NextNamedSibling(each)) {
      if (each == module) continue;
      const NodeId name = tree_[each].kind == kAliasedImport ? tree_.Child(each, kFieldName) : each;
      if (name == kNoNode || tree_[name].kind != kDottedName) continue;
      if (module == kNoNode) {
        ReportModule(tree_.TextOf(name), id);
      } else {
        ReportModule(std::string(tree_.TextOf(module)) + "." + std::string(tree_.TextOf(name)), id);
      }
    }
  }

  // Every module on the way to it is imported, too.
  void ReportModule(std::string_view dotted, NodeId id) {
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
    if (const Rule* rule = names_.RuleFor(name, When::kCalled)) Add(*rule, id);
    if (names_.Has(name, When::kRunsCode)) NestCode(evaluation_.Argument(id, 0, ""), core::Language::kPython);
    if (names_.Has(name, When::kRunsShell)) NestCode(evaluation_.Argument(id, 0, "cmd"), core::Language::kShell);
    if (names_.Has(name, When::kRunsArgv)) NestArgv(evaluation_.Argument(id, 0, "args"));
    if (Is(name, "builtins", "open")) ReportOpen(id, 1);
    if (Is(name, "builtins", "getattr") || Is(name, "builtins", "setattr")) ReportReflection(id);
    if (Is(name, "importlib", "import_module") || Is(name, "builtins", "__import__")) {
      const auto module = TextOf(evaluation_.Argument(id, 0, "name"));
      if (module) ReportModule(*module, id);
    }
  }

  [[nodiscard]] std::optional<std::string> TextOf(NodeId id) const {
    return id == kNoNode ? std::nullopt : evaluation_.TextOf(evaluation_.ValueOf(id));
  }

  void ReportOpen(NodeId id, std::size_t place) {
    const NodeId mode = evaluation_.Argument(id, place, "mode");
    const auto text = TextOf(mode);
    const bool reads = mode == kNoNode ? !evaluation_.HasSplat(id) : text && OpensForReading(*text);
    Add(reads ? kPythonFileRead : kPythonFileWrite, id);
  }

  // getattr of a hidden name on anything, and of a name that is not known on what the table knows.
  void ReportReflection(NodeId id) {
    const NodeId object = evaluation_.Argument(id, 0, "");
    const auto name = TextOf(evaluation_.Argument(id, 1, ""));
    const bool open_name = !name || name->find(kHole) != std::string::npos;
    bool of_known = false;
    if (object != kNoNode)
      evaluation_.pool().ForEach(evaluation_.ValueOf(object),
                                 [&](Value value) { of_known |= value.kind == Value::Kind::kName; });
    if (open_name ? of_known : IsDunder(*name)) Add(kPythonReflection, id);
    const auto call = evaluation_.ValueOf(id);
    if (call.kind == Value::Kind::kName)
      if (const Rule* rule = names_.RuleFor(call.id, When::kUsed)) Add(*rule, id);
    if (name && !open_name)
      if (const Rule* rule = names_.RuleForWord(*name, When::kMember)) Add(*rule, id);
  }

  void ReportMethod(NodeId id, NodeId function, bool known) {
    const NodeId object = tree_.Child(function, kFieldObject);
    const NodeId label = tree_.Child(function, kFieldAttribute);
    if (object == kNoNode || label == kNoNode) return;
    const std::string_view method = evaluation_.Normal(tree_.TextOf(label));
    bool harmless = known;
    evaluation_.pool().ForEach(evaluation_.ValueOf(object), [&](Value value) {
      harmless |= value.kind == Value::Kind::kForeign || evaluation_.TextOf(value).has_value() ||
                  (value.kind == Value::Kind::kName && names_.Has(value.id, When::kHarmless));
    });
    ReportRunsUnknown(id, object, method);
    if (const Rule* rule = names_.RuleForWord(method, When::kFunction)) Add(*rule, id);
    ReportLibraryWrite(id, method);
    if (harmless) return;
    if (const Rule* rule = names_.RuleForWord(method, When::kMethod)) Add(*rule, id);
    if (method == "open") ReportOpenMethod(id);
  }

  // Something that is not known has a member of the name of a command runner, in a program that has the module: the
  // module may have come here as an argument, or out of a list.
  void ReportRunsUnknown(NodeId id, NodeId object, std::string_view method) {
    if (evaluation_.ValueOf(object).kind != Value::Kind::kUnknown || tree_.TextOf(object) == "self") return;
    const NameId member = names_.Member(names_.Root("os"), method);
    if (member == kNoName || !evaluation_.Mentions(names_.Root("os"))) return;
    const Rule* rule = names_.RuleFor(member, When::kUsed);
    if (rule == nullptr || rule->level != core::RiskLevel::kCritical) return;
    Add(*rule, id);
    if (names_.Has(member, When::kRunsShell)) NestCode(evaluation_.Argument(id, 0, "cmd"), core::Language::kShell);
  }

  // Path.open: the mode comes first. What else is called open has other arguments.
  void ReportOpenMethod(NodeId id) {
    const auto mode = TextOf(evaluation_.Argument(id, 0, "mode"));
    if (mode && IsMode(*mode)) Add(OpensForReading(*mode) ? kPythonFileRead : kPythonFileWrite, id);
  }

  void ReportLibraryWrite(NodeId id, std::string_view method) {
    constexpr auto kWriters = std::to_array<std::string_view>(
        {"to_csv", "to_excel", "to_parquet", "to_json", "to_pickle", "to_html", "to_feather", "to_hdf", "to_sql",
         "savefig", "save", "savez", "savetxt", "imwrite", "write_image", "write_html", "to_markdown", "to_latex"});
    if (std::ranges::find(kWriters, method) == kWriters.end()) return;
    // Without a place to write to they give a text, or are something else.
    if (evaluation_.Argument(id, 0, "path") != kNoNode || evaluation_.HasSplat(id)) Add(kPythonLibraryWrite, id);
  }

  // --- code in code ---

  // A literal of any length once; what is made of parts as far as it is known.
  void NestCode(NodeId id, core::Language language) {
    if (id == kNoNode) return;
    const std::string_view unknown = language == core::Language::kShell ? "${unknown}" : "unknown";
    evaluation_.pool().ForEach(evaluation_.ValueOf(id), [&](Value value) {
      if (value.kind == Value::Kind::kLiteral) {
        if (nested_.insert({value.id, language}).second)
          report_.Nest(language, Filled(evaluation_.LiteralText(value.id), unknown), tree_[id].begin);
      } else if (value.kind == Value::Kind::kText) {
        report_.Nest(language, Filled(evaluation_.pool().TextAt(value.id), unknown), tree_[id].begin);
      }
    });
  }

  // A list of words, or a text that a shell may read.
  void NestArgv(NodeId id) {
    if (id == kNoNode) return;
    if (tree_[id].kind != kList && tree_[id].kind != kTuple) return NestCode(id, core::Language::kShell);
    std::vector<std::optional<std::string>> words;
    for (NodeId each = tree_.FirstNamedChild(id); each != kNoNode; each = tree_.NextNamedSibling(each)) {
      auto text = TextOf(each);
      if (text && text->find(kHole) != std::string::npos) text.reset();
      words.push_back(std::move(text));
    }
    AnalyseCommand(words, tree_[id].begin, report_);
  }

  const SyntaxTree& tree_;
  const Names& names_;
  Evaluation evaluation_;
  Report& report_;
  std::set<std::pair<NodeId, core::Language>> nested_;
};

}  // namespace
}  // namespace python

void AnalysePython(std::string_view code, Report& report) {
  const SyntaxTree tree = SyntaxTree::Parse(python::TheVocabulary(), code);
  if (!tree.complete()) {
    report.Add(kNotAnalysed, code, 0, static_cast<std::uint32_t>(code.size()));
    ReportTokens(code, 0, {PythonNames(), "builtins"}, report);
    return;
  }
  python::Analysis(tree, report).Run();
}

}  // namespace skerry::policy
