// Announcer: a webhook. Tells another server of something that waits for an answer, until the server has heard of it or
// the wait is over.
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
  std::size_t max_waiting = 1'000;  // further announcements are dropped
  std::chrono::milliseconds timeout{10'000};
};

struct Announcement {
  std::string id;                               // of the approval that it announces; "apr_…"
  std::string body;                             // JSON
  std::chrono::system_clock::time_point until;  // from then on it is not sent any more
};

struct AnnouncerStatistics {
  std::uint64_t delivered = 0;
  std::uint64_t failed_attempts = 0;
  std::uint64_t given_up = 0;
};

std::string SignatureOf(std::string_view secret, std::string_view timestamp, std::string_view body);

// Thread-safe; sends on a thread of its own, one announcement after the other, those that are due first. An answer of
// 2xx means that the server has heard; after 410 the announcement is not sent again; after every other answer it is.
class Announcer {
 public:
  // `said` gets a line for people about each announcement that could not be delivered; may be empty.
  Announcer(AnnouncerOptions options, Post post, std::function<void(const std::string&)> said);
  Announcer(const Announcer&) = delete;
  Announcer& operator=(const Announcer&) = delete;
  // Drops the announcements that wait. Waits two seconds at most for an attempt that is under way; `said` is not called
  // afterwards.
  ~Announcer();

  // Returns at once.
  void Announce(Announcement announcement);
  // Drops the announcement: what it is about is over.
  void Withdraw(const std::string& id);
  [[nodiscard]] AnnouncerStatistics Statistics() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
  Background thread_;
};

}  // namespace skerry::watch
