// From checked values to the struct.
#pragma once

#include "base/result.hpp"
#include "config/config.hpp"
#include "config/layer.hpp"

namespace skerry::config {

// kInternal when schema and struct do not fit: a member without a key, or a key that no member takes.
base::Result<Config> Bind(const Layer& layers);

}  // namespace skerry::config
