// A gate that lets every run pass: for tests of what comes after it.
#pragma once

#include <memory>

#include "confirm/auto_approve.hpp"
#include "engine/gate.hpp"

namespace skerry {

inline engine::GateOptions OpenGate() {
  return {.policy = {.reject_as_confirmation = true}, .confirmation = std::make_shared<confirm::AutoApprove>("test")};
}

}  // namespace skerry
