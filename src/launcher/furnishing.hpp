// Furnishing: what a sandbox that was made ahead is told when a client asks for a sandbox.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "launcher/fork_order.hpp"
#include "launcher/protocol.hpp"
#include "launcher/sandbox_child.hpp"

namespace skerry::launcher {

// The message comes with the detached mounts of the request's directories.
struct Furnishing {
  StartRequest request;
  ForkOrder fence;
};

std::string Encode(const Furnishing& furnishing);
// Nothing for bytes that are not exactly one well-formed message.
std::optional<Furnishing> DecodeFurnishing(std::string_view bytes);

// In the child: waits for the furnishing on the report socket and completes the plan, whose parts live until the end of
// the process. The launcher has one thread, so its child may use the heap.
void AwaitFurnishing(ChildPlan& plan);

}  // namespace skerry::launcher
