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

Command FsReadCommand(const Context& context);
Command FsWriteCommand(const Context& context);
Command FsAppendCommand(const Context& context);
Command FsEditCommand(const Context& context);
Command FsListCommand(const Context& context);
Command FsStatCommand(const Context& context);
Command FsMkdirCommand(const Context& context);
Command FsMoveCommand(const Context& context);
Command FsCopyCommand(const Context& context);
Command FsDeleteCommand(const Context& context);
Command FsSearchCommand(const Context& context);
Command FsImportCommand(const Context& context);
Command FsExportCommand(const Context& context);

// Most of these commands name a session and a path in it.
struct FsTarget {
  std::string session;
  std::string path = "/";
  bool json = false;
};
Argument SessionArgument(FsTarget& target);
Argument PathArgument(FsTarget& target, const std::string& description, Need need = Need::kRequired);
Option JsonOption(FsTarget& target, const std::string& description);

// The length of the answer's body, where a header gives it.
std::optional<std::uint64_t> LengthOf(const net::Incoming& answer);

// kInvalidArgument for a text that is no digest.
base::Status CheckExpected(const std::optional<std::string>& sha256);

}  // namespace skerry::cli
