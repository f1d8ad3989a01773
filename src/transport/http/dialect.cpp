#include "transport/http/dialect.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/utf8.hpp"
#include "transport/http/text.hpp"

namespace skerry::transport::http {
namespace {

// A token in an address ends up in histories, logs and Referer headers, so it is refused even where it is right.
constexpr std::array<std::string_view, 5> kTokenNames = {"token", "access_token", "api_key", "apikey", "key"};
constexpr std::string_view kScheme = "Bearer ";

bool HasTokenInQuery(const RequestHead& head) {
  return std::ranges::any_of(head.query.fields(), [](const auto& field) {
    return std::ranges::any_of(kTokenNames, [&](auto name) { return EqualsIgnoringCase(name, field.first); });
  });
}

// RFC 6750 "b64token".
bool IsBearerToken(std::string_view text) {
  const std::size_t letters = std::min(text.find('='), text.size());
  return letters > 0 && text.find_first_not_of('=', letters) == std::string_view::npos &&
         std::ranges::all_of(text.substr(0, letters), [](char letter) {
           return IsLetterOrDigit(letter) || std::string_view("-._~+/").contains(letter);
         });
}

// The text as a JSON string.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char letter : base::ToValidUtf8(text)) {
    std::array<char, 7> escape{};
    if (static_cast<unsigned char>(letter) < 0x20) {
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(letter));
      quoted += escape.data();
      continue;
    }
    if (letter == '"' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return quoted + "\"";
}

}  // namespace

Refusal RefusalOf(const base::Error& error) {
  const base::CodeRow& row = base::RowOf(error.code);
  // The first line is the message; the following lines are its details.
  const std::size_t end = error.message.find('\n');
  return {.status = row.http_status,
          .code = std::string(row.name),
          .message = error.message.substr(0, end),
          .detail = end == std::string::npos ? "" : error.message.substr(end + 1)};
}

base::Result<std::optional<std::string>> BearerCredential(const RequestHead& head) {
  if (HasTokenInQuery(head))
    return base::Err(base::Code::kInvalidArgument, "a token does not belong into the address; send it as a header");
  if (head.headers.Count("Authorization") > 1)
    return base::Err(base::Code::kInvalidArgument, "more than one Authorization header");
  const auto value = head.headers.Find("Authorization");
  if (!value) return std::nullopt;
  if (!EqualsIgnoringCase(value->substr(0, kScheme.size()), kScheme))
    return base::Err(base::Code::kUnauthenticated, "send the token as \"Authorization: Bearer …\"");
  const std::string_view token = Trim(value->substr(kScheme.size()));
  if (!IsBearerToken(token)) return base::Err(base::Code::kUnauthenticated, "what was sent is no token");
  return std::string(token);
}

Response RefuseNeutrally(const Refusal& refusal, const std::string& request_id) {
  std::string text = "{\"code\":" + Quoted(refusal.code) + ",\"message\":" + Quoted(refusal.message) + ",\"detail\":";
  text += refusal.detail.empty() ? "null" : Quoted(refusal.detail);
  text += ",\"request_id\":" + Quoted(request_id) + "}\n";
  Response response{.status = refusal.status, .headers = {{"Content-Type", "application/json"}}};
  response.body = std::move(text);
  return response;
}

}  // namespace skerry::transport::http
