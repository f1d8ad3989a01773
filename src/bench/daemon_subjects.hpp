// A running daemon as a subject of the benchmark: the same work over HTTP.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "bench/baselines.hpp"

namespace skerry::bench {

// How to call a daemon. Given by `skerry bench`, which knows where the daemon is. All calls are made on one thread, one
// after the other.
struct DaemonCalls {
  // Sends JSON, unless it is null, and gives the JSON of the answer. A refusal is an error.
  std::function<base::Result<nlohmann::ordered_json>(const std::string& method, const std::string& target,
                                                     const nlohmann::ordered_json& body)>
      ask;
  // Posts JSON text and gives the text of the answer. A refusal is an error, as is an answer that takes too long.
  std::function<base::Result<std::string>(const std::string& target, const std::string& body)> post;
};

// `skerry serve` in the groups of warm programs and of cells, when the daemon answers; otherwise the reason, which is
// the error of `daemon` when no daemon was found. Each subject has the target of its group.
Baselines FindDaemonSubjects(base::Result<DaemonCalls> daemon);

}  // namespace skerry::bench
