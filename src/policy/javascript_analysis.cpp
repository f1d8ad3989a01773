// The analysis of JavaScript and TypeScript: names are resolved to what they mean, then looked up in the table.
#include <algorithm>
#include <array>

#include "policy/code_analysis.hpp"
#include "policy/javascript_rules.hpp"
#include "policy/javascript_syntax.hpp"
#include "policy/javascript_values.hpp"
#include "policy/report.hpp"
#include "policy/shell_commands.hpp"
#include "policy/texts.hpp"

namespace skerry::policy {
namespace javascript {
namespace {

constexpr std::uint64_t kWorkOfACall = 8 * kWorkOfALookup;  // a call asks for so many names

// `%41` is A.
std::string PercentDecoded(std::string_view text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool escaped = text[at] == '%' && at + 2 < text.size();
    if (!escaped) {
      decoded += text[at];
      continue;
    }
    decoded += FromHex(text.substr(at + 1, 2));
    at += 2;
  }
  return decoded;
}

TokenTable TheTable() {
  return {JavaScriptNames(), "globalThis"};
}

class Analysis : CodeAnalysis<Evaluation> {
 public:
  Analysis(const SyntaxTree& tree, Report& report) : CodeAnalysis(tree, TheTable(), report) {}

  void Run() {
    evaluation_.Run();
    for (NodeId id = 0; tree_.Reaches(id); ++id) {
      if (tree_[id].error) ReportError(id);
      ReportNode(id);
    }
    if (loads_unknown_ && critical_module_ != kNoNode)
      ReportModuleNamed(TextOf(critical_module_).value_or(""), critical_module_);
  }

 private:
  void ReportNode(NodeId id) {
    switch (tree_[id].kind) {
      case kIdentifier:
      case kShorthandPropertyIdentifier:
        if (IsBrowserName(tree_.TextOf(id))) report_.NeedBrowser();
        if (!evaluation_.IsBinding(id)) ReportUse(id);
        return;
      case kSubscriptExpression:
        ReportUse(id);
        return ReportItem(id);
      case kBinaryExpression:
        return ReportHiddenName(id);
      case kString:
      case kTemplateString:
        // No module has a longer name.
        if (tree_[id].end - tree_[id].begin < 64 && critical_module_ == kNoNode &&
            IsCriticalModule(TextOf(id).value_or("")))
          critical_module_ = id;
        return ReportHiddenName(id);
      case kMemberExpression:
        ReportUse(id);
        return ReportMember(id);
      case kCallExpression:
      case kNewExpression:
        ReportUse(id);
        ReportHiddenName(id);
        return ReportCall(id);
      case kImportStatement:
      case kExportStatement:
        return ReportImport(id);
      case kObjectPattern:
        return ReportPattern(id);
      default:
        return;
    }
  }

  void ReportUse(NodeId id) {
    evaluation_.pool().ForEach(evaluation_.ValueOf(id), [&](Value value) {
      if (value.kind != Value::Kind::kName) return;
      if (const Rule* rule = names_.RuleFor(value.id, When::kUsed)) Add(*rule, id);
      const Rule* handed_on = names_.RuleFor(value.id, When::kHandedOn);
      if (handed_on == nullptr || !IsHandedOn(tree_, id)) return;
      loads_unknown_ |= handed_on->id == kJavaScriptDynamicRequire.id;
      Add(*handed_on, id);
    });
  }

  // A text that is put together from parts, and is a name that no honest code puts together.
  void ReportHiddenName(NodeId id) {
    const std::string* text = AssembledText(id);
    if (text == nullptr) return;
    const NodeId first = tree_.FirstNamedChild(id);
    const bool one_part = tree_[id].kind == kTemplateString && first != kNoNode &&
                          tree_[id].end - tree_[id].begin <= tree_[first].end - tree_[first].begin + 2;
    if (!one_part && IsCriticalName(*text)) Add(kJavaScriptHiddenName, id);
  }

  [[nodiscard]] bool IsCriticalName(std::string_view text) const {
    const Rule* used = names_.RuleFor(evaluation_.Own(text), When::kUsed);
    const bool critical = used != nullptr && used->level == core::RiskLevel::kCritical;
    return critical || IsCriticalModule(text) || text == "Function" || text == "constructor";
  }

  [[nodiscard]] bool IsCriticalModule(std::string_view text) const {
    const Value module = evaluation_.ModuleNamed(text);
    const Rule* rule = module.kind == Value::Kind::kName ? names_.RuleFor(module.id, When::kImported) : nullptr;
    return rule != nullptr && rule->level == core::RiskLevel::kCritical;
  }

  // `this`, and the names under which it is usually kept, are too uncertain to be reported.
  [[nodiscard]] bool IsThis(NodeId object) const {
    constexpr auto kWords = std::to_array<std::string_view>({"this", "self", "that", "_this", "me"});
    return std::ranges::any_of(kWords, [&](std::string_view word) { return tree_.Is(object, word); });
  }

  // globalThis[x]
  void ReportItem(NodeId id) {
    const NodeId object = tree_.Child(id, kFieldObject);
    const NodeId index = tree_.Child(id, kFieldIndex);
    if (object == kNoNode || index == kNoNode || IsThis(object) || tree_[id].field == kFieldLeft) return;
    const bool known = tree_[index].kind == kNumber || IsKnownText(index);
    evaluation_.pool().ForEach(evaluation_.ValueOf(object), [&](Value value) {
      const bool global = value.kind == Value::Kind::kName &&
                          (value.id == names_.Root("globalThis") || value.id == evaluation_.Own("process") ||
                           value.id == evaluation_.Own("module"));
      if (global && !known) Add(kJavaScriptReflection, id);
    });
  }

  void ReportMember(NodeId id) {
    const NodeId name = tree_.Child(id, kFieldProperty);
    if (name == kNoNode) return;
    if (IsBrowserName(tree_.TextOf(name))) report_.NeedBrowser();
    if (const Rule* rule = names_.RuleForWord(evaluation_.Normal(tree_.TextOf(name)), When::kMember)) Add(*rule, id);
  }

  // `const {eval: e} = globalThis` names the member that it takes.
  void ReportPattern(NodeId id) {
    const NodeId parent = tree_[id].parent;
    if (parent == kNoNode) return;
    const NodeId source = tree_.Child(parent, tree_[parent].kind == kVariableDeclarator ? kFieldValue : kFieldRight);
    if (source == kNoNode) return;
    for (NodeId each = tree_.FirstNamedChild(id); each != kNoNode; each = tree_.NextNamedSibling(each)) {
      const NodeId key = tree_[each].kind == kPairPattern ? tree_.Child(each, kFieldKey) : each;
      if (key == kNoNode) continue;
      evaluation_.pool().ForEach(evaluation_.ValueOf(source), [&](Value value) {
        if (value.kind != Value::Kind::kName) return;
        const NameId member = names_.Member(value.id, evaluation_.Normal(tree_.TextOf(key)));
        if (const Rule* rule = names_.RuleFor(member, When::kUsed)) Add(*rule, each);
      });
    }
  }

  // --- modules ---

  void ReportImport(NodeId id) {
    NodeId source = tree_.Child(id, kFieldSource);
    for (NodeId each = tree_.FirstNamedChild(id); each != kNoNode && source == kNoNode;
         each = tree_.NextNamedSibling(each))
      if (tree_[each].kind == kImportRequireClause) source = tree_.Child(each, kFieldSource);
    // `import type` is removed before anything runs.
    if (source == kNoNode || tree_.BeginsWith(id, "import type ") || tree_.BeginsWith(id, "export type ")) return;
    ReportModule(source, id);
  }

  void ReportModule(NodeId source, NodeId id) {
    const bool known =
        source != kNoNode && evaluation_.ForEachText(evaluation_.ValueOf(source),
                                                     [&](const std::string& name) { ReportModuleNamed(name, id); });
    if (known) return;
    loads_unknown_ = true;
    Add(kJavaScriptDynamicRequire, id);
  }

  void ReportModuleNamed(std::string_view name, NodeId id) {
    if (IsBrowserName(name)) report_.NeedBrowser();
    if (name.starts_with("data:")) {
      if (!name.starts_with("data:application/json")) ReportModuleText(name, id);
      return;
    }
    report_.Refer(
        {.kind = CodeReference::Kind::kModule, .language = core::Language::kJavaScript, .name = std::string(name)},
        tree_[id].begin);
    const auto extra = report_.extras().modules.find(name);
    if (extra != report_.extras().modules.end())
      Add(kJavaScriptOrganisationModule[static_cast<std::size_t>(extra->second)], id);
    const Value module = evaluation_.ModuleNamed(name);
    if (module.kind != Value::Kind::kName) return;
    if (const Rule* rule = names_.RuleFor(module.id, When::kImported)) Add(*rule, id);
  }

  // `data:text/javascript,…` is the text of a module, not its name.
  void ReportModuleText(std::string_view name, NodeId id) {
    tree_.budget().Spend(WorkOfReading(name.size()));
    Add(kJavaScriptEval, id);
    const std::size_t comma = std::min(name.find(','), name.size() - 1);
    const bool packed = name.substr(0, comma).ends_with(";base64");
    const std::string text = PercentDecoded(name.substr(comma + 1));
    report_.Nest(core::Language::kJavaScript, Filled(packed ? FromBase64(text) : text, "unknown"), tree_[id].begin);
  }

  // --- calls ---

  void ReportCall(NodeId id) {
    const NodeId function = tree_.Child(id, tree_[id].kind == kNewExpression ? kFieldConstructor : kFieldFunction);
    if (function == kNoNode) return;
    const Value called = evaluation_.ValueOf(function);
    if (tree_[function].kind == kImportKeyword || evaluation_.IsRequire(called))
      return ReportModule(evaluation_.Argument(id, 0), id);
    bool known = false;
    evaluation_.pool().ForEach(called, [&](Value value) {
      known |= value.kind == Value::Kind::kName || value.kind == Value::Kind::kForeign;
      if (value.kind == Value::Kind::kName) ReportCallOf(value.id, id);
    });
    if (tree_[function].kind == kMemberExpression && !known) ReportMethod(id, function);
    if (tree_[id].kind == kCallExpression) ReportConstructor(id, function);
  }

  // x.constructor(…) without `new` is only of use where x is a function: it then makes a function of a text.
  void ReportConstructor(NodeId id, NodeId function) {
    const NodeId object = tree_.Child(function, kFieldObject);
    const NodeId property = tree_.Child(function, kFieldProperty);
    if (object == kNoNode || property == kNoNode || tree_.TextOf(property) != "constructor") return;
    if (tree_.Is(object, "this") || tree_.Is(object, "super") || evaluation_.Argument(id, 0) == kNoNode) return;
    Add(kJavaScriptEval, id);
    NestCode(evaluation_.LastArgument(id), core::Language::kJavaScript);
  }

  void ReportCallOf(NameId name, NodeId id) {
    tree_.budget().Spend(kWorkOfACall);
    if (const Rule* rule = names_.RuleFor(name, When::kCalled)) Add(*rule, id);
    const NodeId first = evaluation_.Argument(id, 0);
    if (names_.Has(name, When::kRunsCode))
      NestCode(name == evaluation_.Own("Function") ? evaluation_.LastArgument(id) : first, core::Language::kJavaScript);
    if (names_.Has(name, When::kRunsShell)) NestCode(first, core::Language::kShell);
    if (names_.Has(name, When::kRunsArgv)) NestArgv(first, evaluation_.Argument(id, 1));
    if (name == evaluation_.Own("setTimeout") || name == evaluation_.Own("setInterval") ||
        name == evaluation_.Own("setImmediate"))
      ReportTimer(id, first);
    if (name == names_.Member(names_.Root("worker_threads"), "Worker")) ReportWorker(id, first);
    ReportReflection(name, id);
  }

  // new Worker(code, {eval: true})
  void ReportWorker(NodeId id, NodeId first) {
    const NodeId options = evaluation_.Argument(id, 1);
    if (options == kNoNode || tree_[options].kind != kObject) return;
    for (NodeId each = tree_.FirstNamedChild(options); each != kNoNode; each = tree_.NextNamedSibling(each)) {
      const NodeId key = tree_.Child(each, kFieldKey);
      const NodeId value = tree_.Child(each, kFieldValue);
      if (key == kNoNode || value == kNoNode || tree_.Is(value, "false")) continue;
      if (evaluation_.Normal(tree_.TextOf(key)) != "eval" && TextOf(key) != "eval") continue;
      Add(kJavaScriptEval, id);
      NestCode(first, core::Language::kJavaScript);
    }
  }

  // A timer that gets a text in place of a function runs that text as code.
  void ReportTimer(NodeId id, NodeId first) {
    if (!TextOf(first)) return;
    Add(kJavaScriptEval, id);
    NestCode(first, core::Language::kJavaScript);
  }

  // Reflect.construct(Function, …), Reflect.apply(fetch, …).
  void ReportReflection(NameId name, NodeId id) {
    const NameId reflect = evaluation_.Own("Reflect");
    const NodeId first = evaluation_.Argument(id, 0);
    if (first == kNoNode) return;
    if (name == names_.Member(reflect, "construct") || name == names_.Member(reflect, "apply"))
      evaluation_.pool().ForEach(evaluation_.ValueOf(first), [&](Value value) {
        const Rule* rule = value.kind == Value::Kind::kName ? names_.RuleFor(value.id, When::kCalled) : nullptr;
        if (rule != nullptr) Add(*rule, id);
      });
  }

  void ReportMethod(NodeId id, NodeId function) {
    const NodeId property = tree_.Child(function, kFieldProperty);
    if (property == kNoNode) return;
    if (const Rule* rule = names_.RuleForWord(evaluation_.Normal(tree_.TextOf(property)), When::kMethod))
      Add(*rule, id);
  }

  // --- code in code ---

  // A program and a list of its words. With `shell: true` the program can be a whole command.
  void NestArgv(NodeId program, NodeId list) {
    if (program == kNoNode) return;
    const auto first = TextOf(program);
    if (first && first->find(' ') != std::string::npos) NestCode(program, core::Language::kShell);
    Words words = {WholeWord(first)};
    if (list != kNoNode && tree_[list].kind == kArray) AddWords(list, words);
    AnalyseCommand(words, tree_[program].begin, report_);
  }

  bool loads_unknown_ = false;        // the code loads a module whose name is unknown
  NodeId critical_module_ = kNoNode;  // the first text that is the name of a critical module
};

// The dialects that the code may be in; TSX differs from TypeScript by its elements.
std::vector<Grammar> DialectsFor(std::string_view code) {
  if (!code.contains("</") && !code.contains("/>")) return {Grammar::kJavaScript, Grammar::kTypeScript};
  return {Grammar::kJavaScript, Grammar::kTypeScript, Grammar::kTsx};
}

// The tree of the first dialect in which nothing fails, or else of the dialect with the fewest errors.
SyntaxTree ParseBest(std::string_view code, Budget& budget) {
  const std::vector<Grammar> dialects = DialectsFor(code);
  for (const Grammar grammar : dialects) {
    SyntaxTree sound = SyntaxTree::ParseSound(VocabularyOf(grammar), code, budget);
    if (sound.complete()) return sound;
  }
  SyntaxTree best = SyntaxTree::ParseBroken(VocabularyOf(dialects.front()), code, budget);
  for (const Grammar grammar : std::span(dialects).subspan(1)) {
    if (!best.complete()) break;
    SyntaxTree other = SyntaxTree::ParseBroken(VocabularyOf(grammar), code, budget);
    if (other.complete() && other.error_bytes() < best.error_bytes()) best = std::move(other);
  }
  return best;
}

// The code with a plain first line: for JavaScript these characters, too, end a "#!" line, which need not be code.
std::string WithPlainFirstLine(std::string_view code) {
  std::string plain(code);
  if (!code.starts_with("#!")) return plain;
  const std::size_t end = std::min(plain.find('\n'), plain.size());
  for (const std::string_view separator : {"\r", "\u2028", "\u2029"}) {
    const std::size_t at = plain.find(separator);
    if (at < end) plain.replace(at, separator.size(), "\n  ", separator.size());
  }
  return plain;
}

}  // namespace
}  // namespace javascript

void AnalyseJavaScript(std::string_view text, Report& report) {
  const std::string code = javascript::WithPlainFirstLine(text);
  const SyntaxTree tree = javascript::ParseBest(code, report.budget());
  if (tree.complete()) javascript::Analysis(tree, report).Run();
  ReportWhatIsLeft(tree, code, javascript::TheTable(), report);
}

}  // namespace skerry::policy
