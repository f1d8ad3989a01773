// The /v1 dialect: what its handlers share.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/turns.hpp"
#include "base/worker_pool.hpp"
#include "engine/views/access.hpp"
#include "json/strict.hpp"
#include "transport/http/dialect.hpp"
#include "transport/kit/answers.hpp"
#include "transport/kit/json_body.hpp"
#include "transport/kit/principal.hpp"
#include "transport/kit/query.hpp"
#include "transport/kit/ticker.hpp"

namespace skerry::transport::v1 {

using kit::Json;
using kit::JsonAnswer;
using kit::NumberOf;
using kit::OnlyQuery;
using kit::PrincipalOf;
using kit::TextAnswer;
using kit::TextOf;
using kit::WordOf;

// Shared by all handlers. Outlives the server.
struct Api {
  engine::Host& host;  // for AccessOf
  base::WorkerPool& workers;
  kit::Ticker& ticker;
  std::string version;
  std::string contract;  // the text of api/openapi.yaml
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  std::function<bool()> draining = [] { return false; };
  mutable base::Turns large{4};  // for composing large answers: each takes several times its size
};

// The routes of each part. `api` is borrowed.
std::vector<http::Route> SystemRoutes(Api& api);
std::vector<http::Route> SessionRoutes(Api& api);
std::vector<http::Route> ExecuteRoutes(Api& api);
std::vector<http::Route> ExecutionRoutes(Api& api);
std::vector<http::Route> CommandRoutes(Api& api);
std::vector<http::Route> ContextRoutes(Api& api);
std::vector<http::Route> FileRoutes(Api& api);
std::vector<http::Route> ArchiveRoutes(Api& api);
std::vector<http::Route> HistoryRoutes(Api& api);
std::vector<http::Route> ApprovalRoutes(Api& api);
std::vector<http::Route> TokenRoutes(Api& api);
std::vector<http::Route> EventRoutes(Api& api);
std::vector<http::Route> MonitorRoutes(Api& api);

// The dialect with all routes.
http::Dialect MakeDialect(Api& api);

// A handler that may fail: its error becomes the answer.
using ApiHandler = std::function<base::Result<http::Response>(Api&, const http::Request&)>;

// A route below /v1. A small body is JSON. A caller that has none of the scopes is refused before the body is read; the
// decisive check is the view's own.
http::Route MakeRoute(Api& api, std::string method, const std::string& pattern, engine::Need need, ApiHandler handler,
                      http::BodyRule body = http::BodyRule::kNone);

http::Response ErrorAnswer(const http::Refusal& refusal, const std::string& request_id);

// The engine, as the caller may use it.
engine::Access AccessOf(const Api& api, const http::Request& request);
// The session of the route's pattern, if it is the caller's. kNotFound.
base::Result<engine::SessionHandle> SessionOf(const engine::Access& access, const http::Request& request);

struct PageOptions {
  std::string cursor;
  std::size_t limit = 100;
};
base::Result<PageOptions> PageOf(const http::Request& request);
Json Page(Json items, const std::optional<std::string>& next_cursor);

// The claim of an Idempotency-Key, if there is one.
base::Result<std::optional<core::IdempotencyClaim>> ClaimOf(const http::Request& request);

}  // namespace skerry::transport::v1
