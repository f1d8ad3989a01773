// Announcer: a webhook. Tells another server of something that waits, until it has heard or it is over.
//
// Each delivery has the headers Skerry-Delivery (an id, the same in every attempt), Skerry-Timestamp (seconds since
// 1970) and Skerry-Signature: "v1=" and the HMAC-SHA256 of timestamp, ".", and body, in hexadecimal.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "watch/background.hpp"
#include "watch/post.hpp"

namespace skerry::watch {

struct AnnouncerOptions {
  std::string url;
  std::string secret;                            // at least 16 bytes
  std::chrono::milliseconds first_pause{1'000};  // before the second attempt; doubled for each further one
  std::chrono::milliseconds longest_pause{60'000};
  std::size_t max_waiting = 1'000;  // more are not announced
  std::chrono::milliseconds timeout{10'000};
};

struct Announcement {
  std::string id;                               // what it is about; "apr_…"
  std::string body;                             // JSON
  std::chrono::system_clock::time_point until;  // nobody needs to know any more
};

struct AnnouncerStatistics {
  std::uint64_t delivered = 0;
  std::uint64_t failed_attempts = 0;
  std::uint64_t given_up = 0;
};

std::string SignatureOf(std::string_view secret, std::string_view timestamp, std::string_view body);

// Thread-safe; sends on a thread of its own, one after the other, those whose time has come first. Any 2xx is heard;
// 410 ends it; everything else is tried again.
class Announcer {
 public:
  // `said` is told of what could not be delivered; may be empty.
  Announcer(AnnouncerOptions options, Post post, std::function<void(const std::string&)> said);
  Announcer(const Announcer&) = delete;
  Announcer& operator=(const Announcer&) = delete;
  // What waits is not sent any more. Waits for an attempt that is under way two seconds at most; `said` is not called
  // afterwards.
  ~Announcer();

  // Returns at once.
  void Announce(Announcement announcement);
  // It is over: nobody needs to hear of it.
  void Withdraw(const std::string& id);
  [[nodiscard]] AnnouncerStatistics Statistics() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
  Background thread_;
};

}  // namespace skerry::watch
