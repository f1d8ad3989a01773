// The outputs of a cell, for people: text on the terminal, pictures in files.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "cli/program_sink.hpp"

namespace skerry::cli {

// `result` is json::ResultToJson of a cell. Plain text goes to stdout, a traceback to stderr, as at an interpreter's
// prompt. False when the reader has left.
bool PrintOutputs(const nlohmann::ordered_json& result, Shown shown);

// Pictures and HTML as files named CONTEXT-CELL-NUMBER.png and so on. The directory is made when it is missing; an
// existing file is replaced, a link is not followed.
base::Status SaveOutputs(const nlohmann::ordered_json& result, const std::string& directory);

}  // namespace skerry::cli
