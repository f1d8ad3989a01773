// The standard library, JSON and the ports of src/core.
#pragma once

#include "json.hpp"

#include "core/backend.hpp"
#include "core/record.hpp"
#include "core/run_end.hpp"
#include "core/service_store.hpp"
