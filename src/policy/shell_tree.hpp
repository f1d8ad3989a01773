// The statements, redirects and assignments of the shell's syntax tree, as the analysis wants them. In the grammar
// words behind a redirect are more targets of it, and a pipe behind a here-document is inside of it; here they are
// where the shell has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/syntax_tree.hpp"

namespace skerry::policy {

enum class ShellKind : std::uint8_t {
  kOther,
  kCommand,
  kCommandName,
  kAssignment,
  kFileRedirect,
  kHereDocument,
  kHereDocumentStart,
  kHereDocumentBody,
  kHereString,
  kRedirected,
  kPipeline,
  kList,
  kNegated,
  kSubshell,
  kCommandSubstitution,
  kProcessSubstitution,
  kFunction,
  kFor,
  kDoGroup,
  kCompound,
  kDeclaration,
  kUnset,
  kArithmetic,
  kComment,
  kBackground,  // the sign &
  kDescriptor,
  kWord,
  kRegex,
  kPattern,
  kStringContent,
  kExpansion,  // ${…}
  kRawString,
};
SyntaxTree ParseShell(std::string_view code, Budget& budget);

inline ShellKind KindOf(const SyntaxTree& tree, NodeId id) {
  return static_cast<ShellKind>(tree[id].kind);
}

struct ShellRedirect {
  NodeId node = kNoNode;
  bool writes = false;
  bool appends = false;
  bool descriptor = false;  // to or from another descriptor: 2>&1
  std::string_view target;  // a word
};
ShellRedirect ReadRedirect(const SyntaxTree& tree, NodeId id);

struct ShellHereDocument {
  std::string_view body;
  bool quoted = false;    // nothing in it is expanded
  std::string_view rest;  // what the shell takes for code, but the parser for a part of the body
};
ShellHereDocument ReadHereDocument(const SyntaxTree& tree, NodeId id);

// The name and the value of `name=value`, `name+=value`, `name[i]=value`.
struct ShellAssignment {
  std::string_view name;
  std::string_view value;
  bool appends = false;
  bool array = false;    // the value is what stands in parentheses
  bool element = false;  // of an array
  bool indirect = false;
};
ShellAssignment ReadAssignment(const SyntaxTree& tree, NodeId id);
// Reads ${x:=value}, and ${!x:=value}, which is indirect; another expansion has no name.
ShellAssignment ReadDefault(const SyntaxTree& tree, NodeId id);

struct ShellStatement {
  std::vector<std::string_view> words;  // with the name
  std::vector<NodeId> redirects;        // of files, here-documents and here-strings
};
// Reads a command, with what belongs to it but stands elsewhere in the tree.
ShellStatement ReadStatement(const SyntaxTree& tree, NodeId id);
// The redirects of a redirected statement.
std::vector<NodeId> RedirectsOf(const SyntaxTree& tree, NodeId id);

}  // namespace skerry::policy
