// What a caller says of a run besides its content: whether a person has agreed, and which thread performs the run.
#pragma once

namespace skerry::engine {

enum class Consent {
  kAsk,
  kGiven,  // the principal may approve, and does
};

enum class Place {
  kHere,    // in the caller's thread; the run is over when the call returns
  kBeside,  // in another thread; the run goes on when the call returns
};

}  // namespace skerry::engine
