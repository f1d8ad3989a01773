#include "transport/http/rate_limiter.hpp"

#include <algorithm>
#include <cmath>

namespace skerry::transport::http {
namespace {

constexpr double kSmallestBucket = 10;
constexpr double kSecondsPerBucket = 2;

using Seconds = std::chrono::duration<double>;

}  // namespace

std::optional<std::chrono::seconds> RateLimiter::Take(const std::string& caller, std::uint64_t per_second,
                                                      TimePoint now) {
  if (per_second == 0) return std::nullopt;
  if (buckets_.size() > forget_above_) ForgetFull(now);
  const double rate = static_cast<double>(per_second);
  const double room = std::max(kSmallestBucket, kSecondsPerBucket * rate);
  Bucket& bucket = buckets_.try_emplace(caller, Bucket{.left = room, .at = now}).first->second;
  bucket.left = std::min(room, bucket.left + rate * std::max(0.0, Seconds(now - bucket.at).count()));
  bucket.at = now;
  if (bucket.left < 1) return std::chrono::seconds(std::max(1L, std::lround(std::ceil((1 - bucket.left) / rate))));
  bucket.left -= 1;
  bucket.full_at = now + std::chrono::duration_cast<TimePoint::duration>(Seconds((room - bucket.left) / rate));
  return std::nullopt;
}

void RateLimiter::ForgetFull(TimePoint now) {
  std::erase_if(buckets_, [&](const auto& entry) { return entry.second.full_at <= now; });
  forget_above_ = std::max<std::size_t>(1024, 2 * buckets_.size());
}

}  // namespace skerry::transport::http
