// The signals that a command may be sent.
#pragma once

#include <optional>
#include <string_view>

namespace skerry::engine {

// "INT", "TERM" …; nothing for any other name.
std::optional<int> SignalNumber(std::string_view name);
// "" for any other number.
std::string_view SignalName(int number);

}  // namespace skerry::engine
