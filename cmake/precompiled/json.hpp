// The standard library and JSON.
#pragma once

#include "standard.hpp"

#include <nlohmann/json.hpp>
