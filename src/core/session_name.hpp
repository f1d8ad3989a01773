// The id of a session and its name.
//
// The name is what the session's tenant calls it; another tenant may have a session of the same name, and the same
// tenant may have had one before. The id is unique for ever: it is the name itself, or the name, `~`, and letters and
// digits. No name holds a `~`.
#pragma once

#include <string>
#include <string_view>

namespace skerry::core {

[[nodiscard]] constexpr std::string_view NameOfSession(std::string_view id) {
  return id.substr(0, id.find('~'));
}

[[nodiscard]] inline std::string SessionIdOf(std::string_view name, std::string_view distinction) {
  return std::string(name) + "~" + std::string(distinction);
}

}  // namespace skerry::core
