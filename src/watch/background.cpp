#include "watch/background.hpp"

#include <utility>

namespace skerry::watch {

Background::Background(std::function<void(const std::stop_token&)> work)
    : ended_(ended_promise_.get_future()),
      thread_([work = std::move(work), ended = std::move(ended_promise_)](const std::stop_token& stop) mutable {
        {
          // What the work owns is destroyed before its end is signalled.
          const auto last = std::move(work);
          last(stop);
        }
        ended.set_value();
      }) {}

void Background::End() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  if (ended_.wait_for(kPatience) != std::future_status::ready) return thread_.detach();
  thread_.join();
}

}  // namespace skerry::watch
