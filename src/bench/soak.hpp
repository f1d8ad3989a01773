// Many warm runs one after the other, to see whether memory or anything else grows.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "base/result.hpp"
#include "bench/plot.hpp"
#include "bench/stand.hpp"

namespace skerry::bench {

struct SoakResult {
  Samples latency;
  std::uint64_t failures = 0;
  LinePlotInput plot;
  std::string summary;  // for people
};

base::Result<SoakResult> Soak(Stand& stand, std::uint64_t runs, const std::function<void(std::uint64_t)>& on_progress,
                              const std::stop_token& stop);

}  // namespace skerry::bench
