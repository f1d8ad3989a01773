// The form in which the end of a run lies in the store: text of this project's own, with a version. No protocol speaks
// it.
#pragma once

#include <string>
#include <string_view>

#include "core/run_end.hpp"

namespace skerry::store {

// Version 2. Bytes that are no UTF-8 become U+FFFD. What the program wrote is left out.
std::string EncodeEnd(const core::RunEnd& end);

// Reads every version; what is missing has its default. Version 1, which has no number, is the JSON that the daemon
// gave to its callers before. The state is not in the text.
core::RunEnd DecodeEnd(core::RunState state, std::string_view text);

}  // namespace skerry::store
