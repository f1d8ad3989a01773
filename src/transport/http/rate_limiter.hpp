// RateLimiter: a bucket of requests for each caller that fills again with time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace skerry::transport::http {

// For one thread.
class RateLimiter {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // Takes one request. Nothing when the request may go on, else how long to wait. A bucket holds the requests of two
  // seconds, and ten at least.
  std::optional<std::chrono::seconds> Take(const std::string& caller, std::uint64_t per_second, TimePoint now);

  [[nodiscard]] std::size_t size() const { return buckets_.size(); }

 private:
  struct Bucket {
    double left = 0;
    TimePoint at;
    TimePoint full_at;  // from then on the bucket is as good as a new one
  };
  void ForgetFull(TimePoint now);

  std::unordered_map<std::string, Bucket> buckets_;
  std::size_t forget_above_ = 1024;
};

}  // namespace skerry::transport::http
