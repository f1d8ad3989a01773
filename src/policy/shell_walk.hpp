// The walk over the tree of a script: in the order of the text, without recursion. Frames remember what surrounds the
// node: pipelines, with what flows through them, and subshells, which have a current directory of their own.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "policy/report.hpp"
#include "policy/shell_commands.hpp"
#include "policy/shell_tree.hpp"
#include "policy/shell_words.hpp"

namespace skerry::policy {

struct ShellFrame {
  NodeId end = 0;
  NodeId node = kNoNode;
  ShellKind kind = ShellKind::kOther;
  ShellFlow input;            // of what is inside now
  ShellFlow output;           // of a pipeline's current stage
  bool has_shell = false;     // a pipeline: a shell reads from it
  std::string directory;      // to go back to
  std::string_view function;  // the name of the function whose body this is
  std::size_t bytes = 0;      // of memory that the frame takes
};

class ShellWalk {
 public:
  ShellWalk(std::string_view code, SyntaxTree tree, Report& report)
      : code_(code),
        report_(report),
        budget_(report.budget()),
        memory_(report.budget()),
        tree_(std::move(tree)),
        variables_(report.budget()),
        session_(report.budget()),
        words_(variables_, report.budget(), 16 * code.size() + (1U << 20U), &session_),
        judge_(session_, report, &variables_) {
    session_.directory = report.directory();
  }

  // Walks the tree; code that the parser did not understand is read by its letters.
  void Run();
  // Reads all of the code by its letters.
  void ScanAll() { ScanRaw(code_, 0); }

 private:
  // shell_analysis.cpp
  void Visit(NodeId id);
  void VisitCommand(NodeId id);
  void VisitRedirect(NodeId id);
  void VisitFunction(NodeId id);
  void VisitSubstitution(NodeId id);
  void VisitHereDocument(NodeId id);
  void VisitText(NodeId id);
  void VisitRawString(NodeId id);
  void Nest(std::string_view code, std::uint32_t place);
  void JudgeTarget(const std::string& target, const ShellRedirect& redirect, std::uint32_t begin, std::uint32_t end);
  // shell_assignments.cpp: variables that get a value
  void VisitAssignment(NodeId id);
  void VisitDeclaration(NodeId id);
  void VisitArithmetic(NodeId id);
  void VisitDefault(NodeId id);
  // Judges that a watched variable gets this value, by whatever means.
  void JudgeValue(std::string_view variable, const std::string& value, NodeId id);
  // Judges all values that a variable can hold, at a place where it gets one of them.
  void JudgeValues(std::string_view variable, NodeId id);
  [[nodiscard]] bool IsFoundOut(std::string_view value) const;
  // shell_pipelines.cpp: what flows where
  ShellFlow InputFrom(const std::vector<NodeId>& redirects);
  void NotePipeline(NodeId id, const std::vector<std::string>& argv, const ShellFlow& input, const ShellFlow& output);
  void NoteDescriptors(const std::vector<NodeId>& redirects);
  // Notes the variables that a command sets from its input.
  void NoteRead(const std::vector<std::string>& argv, const ShellFlow& input);
  void NoteFiles(const ShellStatement& statement, const std::vector<std::string>& argv, const ShellFlow& input,
                 const ShellFlow& output);
  void NoteCopy(const std::string& from, const std::string& to);
  void NoteFile(std::string_view path, const ShellFlow& content, const ShellRedirect* redirect);
  [[nodiscard]] bool IsForkBomb(NodeId id, std::string_view name) const;
  [[nodiscard]] bool RunsBeside(NodeId id, NodeId until) const;

  void Leave(NodeId id);
  void Enter(NodeId id, ShellFlow input);
  void StartStage();
  // Counts the memory that a frame takes now.
  void Weigh(ShellFrame& frame);
  [[nodiscard]] ShellFlow CurrentInput() const;
  // The words of a command, as far as the memory goes.
  void ExpandWords(const std::vector<std::string_view>& words, ShellChoice& choice, std::vector<std::string>& argv);

  // shell_variables.cpp: everything that is assigned anywhere, before the walk
  void CollectVariables();
  void CollectAssignment(NodeId id);
  void CollectLoop(NodeId id);
  void CollectFromCommand(NodeId id);
  void CollectRunner(NodeId id);
  void CollectDefault(NodeId id);
  [[nodiscard]] bool ChangesValues(NodeId declaration);
  // What the functions of the script are called with, and what they assign of it.
  void CollectArguments();
  void CollectCall(NodeId name);

  // shell_errors.cpp: what the parser did not understand, by its letters
  void ScanErrors();
  void ScanRaw(std::string_view text, int depth);
  [[nodiscard]] std::uint32_t PlaceOf(std::string_view part) const {
    const bool inside = part.data() >= code_.data() && part.data() <= code_.data() + code_.size();
    return inside ? static_cast<std::uint32_t>(part.data() - code_.data()) : raw_place_;
  }

  std::string_view code_;
  Report& report_;
  Budget& budget_;
  HeldMemory memory_;
  SyntaxTree tree_;
  ShellVariables variables_;
  ShellSession session_;
  ShellWords words_;
  std::set<std::string_view> defined_;  // functions
  std::set<std::string_view> runners_;  // functions that run what they are given
  CommandJudge judge_;
  std::vector<ShellFrame> frames_;
  ShellFlow last_output_;                                   // of the last command
  std::pair<NodeId, bool> declaration_ = {kNoNode, false};  // the last declaration, and whether it changes values
  std::uint32_t raw_place_ = 0;  // place of the code that made the text which is read by its letters
};

}  // namespace skerry::policy
