#include "transport/kit/answers.hpp"

#include <utility>

#include "engine/disk_room.hpp"
#include "json/text.hpp"

namespace skerry::transport::kit {

http::Response JsonAnswer(int status, const Json& body) {
  return TextAnswer(status, json::Text(body) + "\n", "application/json");
}

http::Response TextAnswer(int status, std::string text, const std::string& type) {
  http::Response response{.status = status, .headers = {{"Content-Type", type}}};
  response.body = std::move(text);
  return response;
}

http::Response NoContent() {
  return {.status = 204};
}

http::Refusal RefusalFor(const base::Error& error) {
  http::Refusal refusal = http::RefusalOf(error);
  if (error.code == base::Code::kRateLimited) refusal.headers.Add("Retry-After", "1");
  constexpr int kInsufficientStorage = 507;
  if (engine::IsNoRoom(error)) refusal.status = kInsufficientStorage;
  return refusal;
}

http::Handler Answering(FallibleHandler handler, Wording refuse) {
  return [handler = std::move(handler), refuse = std::move(refuse)](const http::Request& request) {
    auto response = handler(request);
    if (response) return std::move(*response);
    const http::Refusal refusal = RefusalFor(response.error());
    http::Response refused = refuse(refusal, request.id);
    for (const auto& [name, value] : refusal.headers.fields()) refused.headers.Set(name, value);
    return refused;
  };
}

}  // namespace skerry::transport::kit
