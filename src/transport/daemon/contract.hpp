// The text of api/openapi.yaml.
#pragma once

#include <string_view>

namespace skerry::transport::daemon {

extern const std::string_view kContract;

}  // namespace skerry::transport::daemon
