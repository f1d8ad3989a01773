// What the commands of `skerry session` share.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "cli/command.hpp"

namespace skerry::cli {

// Where commands are added, and what they need.
struct SessionGroup {
  CLI::App& app;
  const Context& context;
  int& exit_code;
};

// Each adds its commands.
void AddSessionCreate(const SessionGroup& group);  // create
void AddSessionLife(const SessionGroup& group);    // extend, pause, resume, stop

// What `skerry session show` tells: a session of the contract, with what it takes of its space beside the rest, and
// busy as its state when something runs in it.
nlohmann::ordered_json SessionForPeople(nlohmann::ordered_json session);

// Indented. False when nobody reads.
bool PrintIndented(const nlohmann::ordered_json& json);
// The fields, one in a line.
std::string FieldsAsTable(const nlohmann::ordered_json& object);

}  // namespace skerry::cli
