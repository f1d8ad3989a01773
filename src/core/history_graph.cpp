#include "core/history_graph.hpp"

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/printable.hpp"

namespace skerry::core {
namespace {

struct Node {
  enum class Kind { kExecution, kFile };
  Kind kind = Kind::kExecution;
  std::string id;
  std::vector<std::string> lines;  // of its label, not yet escaped
};

struct Edge {
  enum class Kind { kWrote, kRemoved, kRead, kNamed, kCaused };
  std::size_t from = 0;
  std::size_t to = 0;
  Kind kind = Kind::kWrote;
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

std::string_view NameOf(Edge::Kind kind) {
  switch (kind) {
    case Edge::Kind::kWrote:
      return "wrote";
    case Edge::Kind::kRemoved:
      return "removed";
    case Edge::Kind::kRead:
      return "read";
    case Edge::Kind::kNamed:
      return "named";
    case Edge::Kind::kCaused:
      return "caused";
  }
  return "";
}

std::string EndOf(const ExecutionRecord& execution) {
  if (execution.state != ExecutionState::kDone) return std::string(NameOf(execution.state));
  const bool tells_code = execution.outcome == NameOf(OutcomeKind::kExited);
  return execution.outcome + (tells_code ? " " + std::to_string(execution.exit_code) : "");
}

// Shortened in the middle: the name of a file is at the end of its path.
std::string ShortPath(const std::string& path) {
  constexpr std::size_t kWhole = 80;
  constexpr std::size_t kHead = 24;
  constexpr std::size_t kTail = 52;
  if (path.size() <= kWhole) return path;
  return path.substr(0, kHead) + "…" + path.substr(path.size() - kTail);
}

class GraphBuilder {
 public:
  explicit GraphBuilder(std::span<const HistoryEntry> entries) {
    for (const HistoryEntry& entry : entries) Add(entry);
    for (const HistoryEntry& entry : entries) Link(entry.execution);
  }

  Graph Take() { return std::move(graph_); }

 private:
  struct State {
    std::size_t node = 0;
    std::string sha256;
  };

  void Add(const HistoryEntry& entry) {
    const std::size_t execution = AddExecution(entry.execution);
    for (const FileUse& use : entry.uses) {
      const bool read = use.how == FileUse::How::kRead;
      graph_.edges.push_back({NodeOf(use), execution, read ? Edge::Kind::kRead : Edge::Kind::kNamed});
    }
    for (const FileChange& change : entry.changes) Add(execution, change);
  }

  void Add(std::size_t execution, const FileChange& change) {
    if (change.action == FileAction::kRemoved) {
      graph_.edges.push_back({execution, NodeOf({.path = change.path}), Edge::Kind::kRemoved});
      current_.erase(change.path);
      return;
    }
    const std::size_t node = AddFile(change.path, change.sha256);
    graph_.edges.push_back({execution, node, Edge::Kind::kWrote});
    current_[change.path] = {node, change.sha256};
  }

  void Link(const ExecutionRecord& execution) {
    const auto cause = executions_.find(execution.caused_by);
    if (execution.caused_by.empty() || cause == executions_.end()) return;
    graph_.edges.push_back({cause->second, executions_.at(execution.id), Edge::Kind::kCaused});
  }

  std::size_t AddExecution(const ExecutionRecord& execution) {
    std::string title = std::to_string(execution.sequence) + " " + execution.kind;
    if (!execution.language.empty()) title += " " + execution.language;
    const std::string_view what = execution.what;
    const std::size_t node = AddNode(
        Node::Kind::kExecution, {title, EndOf(execution), base::Excerpt(what.substr(0, what.find_first_of("\r\n")))});
    executions_[execution.id] = node;
    return node;
  }

  // The node of the state that is used: one that an execution of the graph made, or one from before.
  std::size_t NodeOf(const FileUse& use) {
    const auto known = current_.find(use.path);
    if (known != current_.end() && (use.sha256.empty() || use.sha256 == known->second.sha256))
      return known->second.node;
    const auto [other, is_new] = others_.try_emplace({use.path, use.sha256});
    if (is_new) other->second = AddFile(use.path, use.sha256);
    return other->second;
  }

  std::size_t AddFile(const std::string& path, const std::string& sha256) {
    constexpr std::size_t kDigits = 8;
    return AddNode(Node::Kind::kFile, {ShortPath(path), sha256.substr(0, kDigits)});
  }

  std::size_t AddNode(Node::Kind kind, std::vector<std::string> lines) {
    std::size_t& count = kind == Node::Kind::kExecution ? execution_count_ : file_count_;
    std::string id = (kind == Node::Kind::kExecution ? "e" : "f") + std::to_string(++count);
    graph_.nodes.push_back({kind, std::move(id), std::move(lines)});
    return graph_.nodes.size() - 1;
  }

  Graph graph_;
  std::size_t execution_count_ = 0;
  std::size_t file_count_ = 0;
  std::map<std::string, std::size_t> executions_;
  std::map<std::string, State> current_;  // by path
  std::map<std::pair<std::string, std::string>, std::size_t> others_;
};

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Letters, and marks to which no version of Mermaid gives a meaning; `-` starts a list at the beginning, `.` after a
// number.
bool IsPlainInMermaid(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '-') return at > 0;
  if (c == '.') return at + 1 < text.size() && text[at + 1] != ' ';
  return IsAlphanumeric(c) || c == ' ' || c == '/' || c == ',' || (static_cast<unsigned char>(c) & 0x80U) != 0;
}

// Texts that Mermaid looks for after it has read the numbered characters: the marks that it puts in their place
// meanwhile, and the names of icons.
struct Replacement {
  std::string_view from;
  std::string_view to;
};
constexpr Replacement kNotInMermaid[] = {{"\uFB02", "?"}, {"\u00B6", "?"}, {":fa-", "\u2236fa-"}};

std::string EscapedForMermaid(const std::string& line) {
  std::string text = base::Printable(line);
  for (const auto& [from, to] : kNotInMermaid)
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at))
      text.replace(at, from.size(), to);
  std::string escaped;
  for (std::size_t at = 0; at < text.size(); ++at)
    escaped += IsPlainInMermaid(text, at) ? std::string(1, text[at]) : "#" + std::to_string(text[at]) + ";";
  return escaped;
}

// Graphviz interprets \ and the entities of HTML in labels.
std::string EscapedForDot(const std::string& line) {
  std::string escaped;
  for (const char c : base::Printable(line)) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
    if (c == '&') escaped += "amp;";
  }
  return escaped;
}

std::string Label(const Node& node, std::string (*escape)(const std::string&), std::string_view line_break) {
  std::string label;
  for (const std::string& line : node.lines) {
    if (line.empty()) continue;
    if (!label.empty()) label += line_break;
    label += escape(line);
  }
  return label.empty() ? "?" : label;
}

std::string_view MermaidArrow(Edge::Kind kind) {
  switch (kind) {
    case Edge::Kind::kWrote:
    case Edge::Kind::kRead:
      return " -->|";
    case Edge::Kind::kRemoved:
    case Edge::Kind::kNamed:
      return " -.->|";
    case Edge::Kind::kCaused:
      return " ==>|";
  }
  return "";
}

std::string_view DotStyle(Edge::Kind kind) {
  switch (kind) {
    case Edge::Kind::kWrote:
    case Edge::Kind::kRead:
      return "solid";
    case Edge::Kind::kRemoved:
    case Edge::Kind::kNamed:
      return "dashed";
    case Edge::Kind::kCaused:
      return "bold";
  }
  return "";
}

}  // namespace

std::string ToMermaid(std::span<const HistoryEntry> entries) {
  const Graph graph = GraphBuilder(entries).Take();
  std::string text = "flowchart LR\n";
  for (const Node& node : graph.nodes) {
    const bool is_file = node.kind == Node::Kind::kFile;
    const std::string label = '"' + Label(node, EscapedForMermaid, "<br/>") + '"';
    text += "  " + node.id + (is_file ? "([" + label + "])" : "[" + label + "]") + "\n";
  }
  for (const Edge& edge : graph.edges) {
    text += "  " + graph.nodes[edge.from].id;
    text.append(MermaidArrow(edge.kind)).append(NameOf(edge.kind)).append("| ");
    text += graph.nodes[edge.to].id + "\n";
  }
  return text;
}

std::string ToDot(std::span<const HistoryEntry> entries) {
  const Graph graph = GraphBuilder(entries).Take();
  std::string text = "digraph history {\n  charset=\"UTF-8\";\n  rankdir=LR;\n";
  for (const Node& node : graph.nodes) {
    const std::string_view shape = node.kind == Node::Kind::kFile ? "ellipse" : "box";
    text +=
        "  " + node.id + " [shape=" + std::string(shape) + ", label=\"" + Label(node, EscapedForDot, "\\n") + "\"];\n";
  }
  for (const Edge& edge : graph.edges) {
    text += "  " + graph.nodes[edge.from].id + " -> " + graph.nodes[edge.to].id + " [label=\"";
    text.append(NameOf(edge.kind)).append("\", style=").append(DotStyle(edge.kind)).append("];\n");
  }
  return text + "}\n";
}

}  // namespace skerry::core
