#include "transport/http/forwarding.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "transport/http/head_check.hpp"
#include "transport/http/text.hpp"

namespace skerry::transport::http {
namespace {

constexpr int kLowestStatus = 100;
constexpr int kHighestStatus = 599;

// RFC 9110, 7.6.1, with the headers that old software uses.
constexpr std::array<std::string_view, 11> kHopByHop = {
    "Connection", "Proxy-Connection", "Keep-Alive",         "TE",     "Transfer-Encoding",  "Trailer",
    "Upgrade",    "Content-Length",   "Proxy-Authenticate", "Expect", "Proxy-Authorization"};

constexpr std::array<std::string_view, 15> kNotForAProgram = {"Strict-Transport-Security",
                                                              "Alt-Svc",
                                                              "Public-Key-Pins",
                                                              "Public-Key-Pins-Report-Only",
                                                              "Expect-CT",
                                                              "NEL",
                                                              "Report-To",
                                                              "Reporting-Endpoints",
                                                              "Clear-Site-Data",
                                                              "Service-Worker-Allowed",
                                                              "X-Sendfile",
                                                              "X-LiteSpeed-Location",
                                                              "X-LIGHTTPD-send-file",
                                                              "X-LIGHTTPD-send-tempfile",
                                                              "X-Reproxy-URL"};
constexpr std::string_view kOrdersToNginx = "X-Accel-";

template <class List>
bool IsAmong(const List& list, std::string_view name) {
  return std::ranges::any_of(list, [&](std::string_view each) { return EqualsIgnoringCase(each, name); });
}

bool IsAboutTheConnection(const Headers& headers, std::string_view name) {
  return IsAmong(kHopByHop, name) || Lists(headers, "Connection", name);
}

std::unexpected<std::string> Bad(std::string what) {
  return std::unexpected(std::move(what));
}

bool IsSafeValue(std::string_view value) {
  return value.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

void AppendField(std::string& text, std::string_view name, std::string_view value) {
  if (IsToken(name) && IsSafeValue(value)) text.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::expected<ProgramAnswer, std::string> ParseAnswer(std::string_view text) {
  ProgramAnswer answer;
  const std::size_t first = text.find("\r\n");
  if (first == std::string_view::npos || !text.ends_with("\r\n\r\n")) return Bad("no HTTP answer");
  const std::string_view line = text.substr(0, first);
  constexpr std::size_t kVersion = 8;  // letters of "HTTP/1.1"
  constexpr std::size_t kCode = 3;
  constexpr std::size_t kShortest = kVersion + 1 + kCode;
  if (line.size() < kShortest || line[kVersion] != ' ' || (line.size() > kShortest && line[kShortest] != ' '))
    return Bad("no HTTP answer");
  if (line.starts_with("HTTP/1.0")) {
    answer.version = Version::kHttp10;
  } else if (!line.starts_with("HTTP/1.1")) {
    return Bad("another version of HTTP");
  }
  const std::string_view code = line.substr(kVersion + 1, kCode);
  const auto [end, error] = std::from_chars(code.data(), code.data() + code.size(), answer.status);
  if (!std::ranges::all_of(code, IsDigit) || error != std::errc() || end != code.data() + code.size() ||
      answer.status < kLowestStatus || answer.status > kHighestStatus)
    return Bad("no status that there is");
  auto headers = ParseFields(text.substr(first + 2));
  if (!headers) return Bad(headers.error().message);
  answer.headers = std::move(*headers);
  return answer;
}

std::expected<AnswerFraming, std::string> FramingOf(const ProgramAnswer& answer, std::string_view method) {
  const auto length = answer.headers.Find("Content-Length");
  const auto coding = answer.headers.Find("Transfer-Encoding");
  if (length && coding) return Bad("Content-Length together with Transfer-Encoding");
  if (answer.headers.Count("Content-Length") > 1 || answer.headers.Count("Transfer-Encoding") > 1)
    return Bad("the length of the body is given twice");
  AnswerFraming framing;
  if (coding) {
    if (answer.version == Version::kHttp10) return Bad("HTTP/1.0 has no Transfer-Encoding");
    if (!EqualsIgnoringCase(*coding, "chunked")) return Bad("no Transfer-Encoding but \"chunked\" is understood");
    framing.end = AnswerFraming::End::kChunks;
  } else if (length) {
    const auto number = ParseLength(*length);
    if (!number) return Bad("Content-Length is no number");
    framing = {.end = AnswerFraming::End::kLength, .length = *number, .names_length = true};
  } else {
    framing.end = AnswerFraming::End::kClose;
  }
  constexpr int kOk = 200;
  constexpr int kNoContent = 204;
  constexpr int kNotModified = 304;
  if (method == "HEAD" || answer.status < kOk || answer.status == kNoContent || answer.status == kNotModified)
    framing.end = AnswerFraming::End::kNoBody;
  return framing;
}

std::string UpgradeOf(const ProgramAnswer& answer, const Headers& request) {
  const auto protocol = answer.headers.Find("Upgrade");
  if (!protocol || answer.headers.Count("Upgrade") != 1 || !Lists(answer.headers, "Connection", "upgrade")) return "";
  return Lists(request, "Upgrade", *protocol) ? std::string(*protocol) : "";
}

Headers HeadersForClient(const ProgramAnswer& answer) {
  Headers headers;
  for (const auto& [name, value] : answer.headers.fields()) {
    const bool orders = EqualsIgnoringCase(std::string_view(name).substr(0, kOrdersToNginx.size()), kOrdersToNginx);
    if (!IsAboutTheConnection(answer.headers, name) && !IsAmong(kNotForAProgram, name) && !orders)
      headers.Add(name, value);
  }
  return headers;
}

std::string ComposeRequest(const ForwardedRequest& request) {
  const Headers& came = request.head.headers;
  std::string text;
  text.append(request.head.method).append(" ").append(request.target).append(" HTTP/1.1\r\n");
  AppendField(text, "Host", request.host.empty() ? came.Find("Host").value_or("") : request.host);
  for (const auto& [name, value] : came.fields()) {
    const bool kept = !IsAboutTheConnection(came, name) && !EqualsIgnoringCase(name, "Host") &&
                      !IsAmong(request.withheld, name) && !request.more.Find(name);
    if (kept) AppendField(text, name, value);
  }
  for (const auto& [name, value] : request.more.fields()) AppendField(text, name, value);
  if (request.framing.chunked) text += "Transfer-Encoding: chunked\r\n";
  if (request.framing.content_length)
    text.append("Content-Length: ").append(std::to_string(*request.framing.content_length)).append("\r\n");
  if (request.framing.any_upgrade) {
    text += "Connection: Upgrade\r\n";
    AppendField(text, "Upgrade", *came.Find("Upgrade"));
  } else {
    text += "Connection: close\r\n";
  }
  return text + "\r\n";
}

std::string TargetBehind(const RequestHead& head, std::size_t segments) {
  const auto target = ParseTarget(head.target);
  if (!target) return "/";
  std::string_view path = target->path;
  for (; segments > 0 && !path.empty(); --segments) path.remove_prefix(std::min(path.find('/', 1), path.size()));
  const bool has_query = head.target.contains('?');
  return (path.empty() ? "/" : std::string(path)) + (has_query ? "?" + target->query : "");
}

bool IsForwardable(std::string_view target) {
  return target.starts_with('/') && std::ranges::all_of(target, [](char c) { return c > ' ' && c < 0x7f; }) &&
         !target.contains('#');
}

}  // namespace skerry::transport::http
