// What the commands of `skerry fs` share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "cli/command.hpp"
#include "cli/command_output.hpp"
#include "cli/daemon_client.hpp"

namespace skerry::cli {

// Where commands are added, and what they need.
struct FsGroup {
  CLI::App& app;
  const Context& context;
  int& exit_code;
};

// Each adds its commands.
void AddFsRead(const FsGroup& group);      // read
void AddFsWrite(const FsGroup& group);     // write, append
void AddFsEdit(const FsGroup& group);      // edit
void AddFsList(const FsGroup& group);      // list, stat
void AddFsTree(const FsGroup& group);      // mkdir, move, copy, delete
void AddFsSearch(const FsGroup& group);    // search
void AddFsArchives(const FsGroup& group);  // import, export

// Most of them name a session and a path in it.
struct FsTarget {
  std::string session;
  std::string path = "/";
  bool json = false;
};
void AddSessionArgument(CLI::App& command, std::string& session);
void AddPathArgument(CLI::App& command, std::string& path, const std::string& description);
// An empty text is a text: what a script left empty by mistake must not be as if it had not been given.
void AddText(CLI::App& command, const std::string& name, std::optional<std::string>& text,
             const std::string& description, const std::string& option_text);

// How many bytes the answer has, where it says so.
std::optional<std::uint64_t> LengthOf(const transport::client::Incoming& answer);

// kInvalidArgument for what is no digest.
base::Status CheckExpected(const std::optional<std::string>& sha256);

}  // namespace skerry::cli
