#include "transport/http/answer_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "transport/http/text.hpp"

namespace skerry::transport::http {
namespace {

constexpr std::size_t kMaxRequestId = 64;

constexpr std::array<std::pair<int, std::string_view>, 34> kReasons = {{
    {100, "Continue"},
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {426, "Upgrade Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
}};

constexpr std::array<std::string_view, 9> kOwn = {"Content-Length", "Transfer-Encoding",      "Connection", "Date",
                                                  "X-Request-Id",   "X-Content-Type-Options", "Keep-Alive", "Server",
                                                  "traceparent"};

bool IsSafe(const std::string& name, const std::string& value) {
  return IsToken(name) && std::ranges::none_of(value, [](char c) { return c == '\r' || c == '\n' || c == '\0'; }) &&
         std::ranges::none_of(kOwn, [&](auto own) { return EqualsIgnoringCase(own, name); });
}

// The date of this second. Kept per thread; one thread asks.
const std::string& DateNow() {
  thread_local std::time_t at = 0;
  thread_local std::string text;
  if (const std::time_t now = std::time(nullptr); now != at) {
    at = now;
    text = HttpDate(now);
  }
  return text;
}

void AppendLength(const AnswerHead& head, std::string& text) {
  if (head.coding == Coding::kLength) text += "Content-Length: " + std::to_string(head.length) + "\r\n";
  if (head.coding == Coding::kChunked) text += "Transfer-Encoding: chunked\r\n";
}

}  // namespace

std::string Compose(const AnswerHead& head) {
  std::string text;
  text.reserve(512);
  // The version is the server's own (RFC 9110, 2.5), also towards an HTTP/1.0 client.
  text.append("HTTP/1.1 ").append(std::to_string(head.status)).append(" ").append(ReasonOf(head.status)).append("\r\n");
  for (const auto& [name, value] : head.headers->fields())
    if (IsSafe(name, value)) text.append(name).append(": ").append(value).append("\r\n");
  if (!head.headers->Find("Cache-Control")) text += "Cache-Control: no-store\r\n";
  text += "X-Content-Type-Options: nosniff\r\n";
  text.append("X-Request-Id: ").append(head.request_id).append("\r\n");
  if (!head.trace.empty()) text.append("traceparent: ").append(head.trace).append("\r\n");
  text.append("Date: ").append(DateNow()).append("\r\n");
  AppendLength(head, text);
  if (!head.upgrade.empty()) text.append("Connection: Upgrade\r\nUpgrade: ").append(head.upgrade).append("\r\n");
  if (!head.keep_alive) text += "Connection: close\r\n";
  if (head.keep_alive && head.version == Version::kHttp10) text += "Connection: keep-alive\r\n";
  text += "\r\n";
  return text;
}

std::string_view ReasonOf(int status) {
  const auto found = std::ranges::find(kReasons, status, [](const auto& row) { return row.first; });
  return found == kReasons.end() ? "Status" : found->second;
}

std::string HttpDate(std::time_t when) {
  std::tm parts{};
  ::gmtime_r(&when, &parts);
  // The names are written out: strftime would ask the locale for them.
  constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::array<char, 64> numbers{};
  const std::string format = std::string(kDays.at(static_cast<std::size_t>(parts.tm_wday))) + ", %d " +
                             kMonths.at(static_cast<std::size_t>(parts.tm_mon)) + " %Y %H:%M:%S GMT";
  const std::size_t length = std::strftime(numbers.data(), numbers.size(), format.c_str(), &parts);
  return {numbers.data(), length};
}

bool IsRequestId(std::string_view text) {
  return !text.empty() && text.size() <= kMaxRequestId && std::ranges::all_of(text, [](char letter) {
    return IsLetterOrDigit(letter) || letter == '.' || letter == '_' || letter == '-';
  });
}

}  // namespace skerry::transport::http
