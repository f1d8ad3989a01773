// What the commands of `skerry session` share.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "cli/command.hpp"

namespace skerry::cli {

// Those that have files of their own.
Command SessionCreateCommand(const Context& context);
Command SessionExtendCommand(const Context& context);
Command SessionPauseCommand(const Context& context);
Command SessionResumeCommand(const Context& context);
Command SessionStopCommand(const Context& context);

// Which session.
Argument SessionNameArgument(std::string& name);

// What `skerry session show` tells: a session of the contract, with what it takes of its space beside the rest, and
// busy as its state when something runs in it.
nlohmann::ordered_json SessionForPeople(nlohmann::ordered_json session);

// Indented. False when nobody reads.
bool PrintIndented(const nlohmann::ordered_json& json);
// The fields, one in a line.
std::string FieldsAsTable(const nlohmann::ordered_json& object);

}  // namespace skerry::cli
