// A running daemon as the subject of the benchmark: the same work over HTTP.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "bench/baselines.hpp"

namespace skerry::bench {

// How a daemon is asked. `skerry bench`, which knows where the daemon is, gives it. All calls are made on one thread,
// one after the other.
struct DaemonCalls {
  // Sends JSON, unless it is null, and gives the JSON of the answer. An answer that refuses is an error.
  std::function<base::Result<nlohmann::ordered_json>(const std::string& method, const std::string& target,
                                                     const nlohmann::ordered_json& body)>
      ask;
  // Posts JSON text and gives the text of the answer. An answer that refuses is an error, as is one that takes too
  // long.
  std::function<base::Result<std::string>(const std::string& target, const std::string& body)> post;
};

// `skerry serve` in the groups of warm programs and of cells, when the daemon answers; else the reason, which is that
// of `daemon` when there is nobody to ask. Each subject has the target of its group.
Baselines FindDaemonSubjects(base::Result<DaemonCalls> daemon);

}  // namespace skerry::bench
