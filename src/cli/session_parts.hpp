// What the commands of `skerry session` share.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "cli/command.hpp"

namespace skerry::cli {

// Commands with a source file of their own.
Command SessionCreateCommand(const Context& context);
Command SessionExtendCommand(const Context& context);
Command SessionPauseCommand(const Context& context);
Command SessionResumeCommand(const Context& context);
Command SessionStopCommand(const Context& context);

// The name of the session.
Argument SessionNameArgument(std::string& name);

// What `skerry session show` prints: a session of the contract, with its use of space beside the other fields, and the
// state busy when a run is under way.
nlohmann::ordered_json SessionForPeople(nlohmann::ordered_json session);

// Prints indented. False when the reader has left.
bool PrintIndented(const nlohmann::ordered_json& json);
// The fields, one in a line.
std::string FieldsAsTable(const nlohmann::ordered_json& object);

}  // namespace skerry::cli
