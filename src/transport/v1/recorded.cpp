#include "transport/v1/recorded.hpp"

#include <memory>
#include <string>
#include <utility>

#include "base/sha256.hpp"
#include "base/utf8.hpp"
#include "workspace/content.hpp"

namespace skerry::transport::v1 {
namespace {

constexpr std::size_t kLongestValue = 4096;  // that is told

std::string Told(std::string_view text) {
  return base::ToValidUtf8(text.substr(0, kLongestValue));
}

base::Status TellContent(Audited::Content content, const http::Body& body, Json& details) {
  if (content != Audited::Content::kNone) details["bytes"] = body.size;
  if (content != Audited::Content::kHashed) return {};
  if (!body.file.valid()) {
    details["sha256"] = base::Sha256Hex(body.bytes);
    return {};
  }
  SKERRY_ASSIGN_OR_RETURN(const workspace::Content whole, workspace::ContentOf(body.file.get(), body.size));
  details["sha256"] = whole.sha256;
  return {};
}

base::Status TellFields(const Audited& audited, const http::Request& request, Json& details) {
  if (audited.fields.front().empty()) return {};
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  for (const std::string_view name : audited.fields) {
    const auto field = body.find(name);
    if (name.empty() || field == body.end() || field->is_structured()) continue;
    // In a record `from` is where the caller is.
    Json& told = details[name == "from" ? "path" : std::string(name)];
    told = field->is_string() ? Json(Told(field->get_ref<const std::string&>())) : Json(*field);
  }
  return {};
}

base::Result<Json> DetailsOf(const Audited& audited, const http::Request& request) {
  Json details = Json::object();
  if (const auto context = request.parameters.find("context"); context != request.parameters.end())
    details["context"] = Told(context->second);
  for (const std::string_view name : audited.query)
    if (const auto value = request.head.query.Find(name); value && !name.empty())
      details[std::string(name)] = Told(*value);
  SKERRY_RETURN_IF_ERROR(TellFields(audited, request, details));
  SKERRY_RETURN_IF_ERROR(TellContent(audited.content, request.body, details));
  return details;
}

// The run that the path names. None where it names none.
base::Result<std::shared_ptr<engine::Run>> NamedRun(const Api& api, const http::Request& request) {
  for (const char* name : {"command", "execution"})
    if (const auto found = request.parameters.find(name); found != request.parameters.end())
      return api.host.FindRun(PrincipalOf(request), found->second);
  return nullptr;
}

}  // namespace

ApiHandler Recorded(const Audited& audited, http::Handler act) {
  return [audited, act = std::move(act)](Api& api, const http::Request& request) -> base::Result<http::Response> {
    const engine::Principal principal = PrincipalOf(request);
    engine::Deed deed{.event = std::string(audited.event)};
    if (audited.how == Audited::How::kAnyway) deed.weight = engine::Deed::Weight::kEnding;
    if (request.parameters.contains("session")) {
      SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
      deed.session = session->id();
    }
    SKERRY_ASSIGN_OR_RETURN(const auto run, NamedRun(api, request));
    SKERRY_ASSIGN_OR_RETURN(Json details, DetailsOf(audited, request));
    if (run != nullptr) {
      details["execution_id"] = run->id();
      deed.session = run->record().session;
    }
    SKERRY_RETURN_IF_ERROR(api.host.chronicle().Does(deed, principal, details));
    http::Response response = act(request);
    constexpr int kRefused = 400;
    if (response.status >= kRefused) api.host.chronicle().Failed(deed, principal, response.status);
    return response;
  };
}

}  // namespace skerry::transport::v1
