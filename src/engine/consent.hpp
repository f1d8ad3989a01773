// What is said of a run besides what it is: whether a person has agreed, and which thread it is for.
#pragma once

namespace skerry::engine {

enum class Consent {
  kAsk,
  kGiven,  // the principal may approve, and does
};

enum class Place {
  kHere,    // in the caller's thread; what comes back is over
  kBeside,  // in another; what comes back goes on
};

}  // namespace skerry::engine
