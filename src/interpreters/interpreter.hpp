// How code of each language is started by an interpreter of this machine.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/backend.hpp"

namespace skerry::interpreters {

// The interpreter reads `text` from descriptor 3 and closes it before the first line of the program runs. So the text
// may have any size, is run byte for byte, cannot be changed by another process, does not appear in the list of
// processes, and leaves no descriptor open.
struct Invocation {
  std::vector<std::string> arguments;
  std::string text;
};

Invocation InvocationFor(const core::Code& code);

// The command line of a shell that waits: the shell runs the text in the file at descriptor 3 as soon as a line arrives
// at descriptor 4, and closes both first. When descriptor 4 ends without a line, the shell ends. To the text it looks
// as if InvocationFor had started the shell.
std::vector<std::string> WaitingShell();
std::string TextForWaitingShell(const core::Code& code, const std::map<std::string, std::string>& environment);

// What must be installed for a language, in words: "python3 (Debian package python3)".
std::string Requirement(core::Language language);

// The interpreter below one of the directories that a sandbox sees, or nothing.
std::optional<std::string> FindInterpreter(core::Language language);

// The whole environment of a program before a caller adds to it. `home` and `temporary` are paths as the program sees
// them.
std::vector<std::string> CleanEnvironment(const std::string& home, const std::string& temporary);

}  // namespace skerry::interpreters
