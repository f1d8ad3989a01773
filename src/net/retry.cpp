#include "net/retry.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace skerry::net {
namespace {

using std::chrono::milliseconds;

bool IsIdempotent(std::string_view method) {
  constexpr std::array<std::string_view, 5> kMethods = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE"};
  return std::ranges::find(kMethods, method) != kMethods.end();
}

// The server, or a proxy before it, is overloaded or restarts.
bool MayPass(int status) {
  constexpr std::array kStatuses = {429, 502, 503, 504};
  return std::ranges::find(kStatuses, status) != kStatuses.end();
}

bool MayPass(const base::Result<Incoming>& answer) {
  return answer ? MayPass(answer->status()) : answer.error().code == base::Code::kUnavailable;
}

// Of the header Retry-After, where that is a number of seconds.
std::optional<milliseconds> AskedPause(const Incoming& answer) {
  constexpr unsigned kMostSeconds = 1'000'000;
  const std::string text = answer.Header("Retry-After").value_or("");
  unsigned seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return std::chrono::seconds(std::min(seconds, kMostSeconds));
}

milliseconds OwnPause(const Retry& retry, int attempt) {
  milliseconds pause = retry.pause;
  for (int i = 1; i < attempt && pause < retry.longest_pause; ++i) pause *= 2;
  return std::min(pause, retry.longest_pause);
}

}  // namespace

std::optional<milliseconds> PauseBeforeRetry(const OutgoingRequest& request, int attempt, Reach reach,
                                             const base::Result<Incoming>& answer) {
  const Retry& retry = request.retry;
  if (attempt >= retry.attempts || !MayPass(answer)) return std::nullopt;
  const bool is_safe = reach == Reach::kNotSent || retry.which == Retry::Which::kAll || IsIdempotent(request.method);
  if (!is_safe) return std::nullopt;
  const milliseconds own = OwnPause(retry, attempt);
  const milliseconds asked = answer ? AskedPause(*answer).value_or(own) : own;
  if (asked > retry.longest_pause) return std::nullopt;
  return std::max(own, asked);
}

}  // namespace skerry::net
