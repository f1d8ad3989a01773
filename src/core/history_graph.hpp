// A history as a graph: executions, states of files, and the edges between them.
#pragma once

#include <span>
#include <string>

#include "core/history.hpp"

namespace skerry::core {

// Both functions draw each execution with its number, kind, outcome and the beginning of its code; each state of a file
// with its path and the beginning of its digest. Edges: wrote, removed, read, named, caused. Names of files and code
// cannot become syntax, markup or a link: they are labels, and every character that means something is escaped.

// A flowchart of Mermaid.
std::string ToMermaid(std::span<const HistoryEntry> entries);

// A directed graph of Graphviz.
std::string ToDot(std::span<const HistoryEntry> entries);

}  // namespace skerry::core
