// ErrorOf: the error that a refusing answer tells.
#pragma once

#include <string_view>

#include "base/error.hpp"

namespace skerry::net {

// What an answer with a status from 400 on says: the code and message of its JSON, else by the status. One line. `whom`
// is Endpoint::called.
base::Error ErrorOf(int status, std::string_view body, std::string_view whom = "server");

}  // namespace skerry::net
