// The signals that a command may be sent.
#pragma once

#include <optional>
#include <string_view>

namespace skerry::transport::v1 {

// "INT", "TERM" …; nothing for what is none of them.
std::optional<int> SignalNumber(std::string_view name);

}  // namespace skerry::transport::v1
