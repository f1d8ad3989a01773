#include "base/turns.hpp"

namespace skerry::base {

Result<Turns::Turn> Turns::Take(std::string tenant, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto may_begin = [&] { return taken_.size() < at_once_ && !taken_.contains(tenant); };
  if (!over_.wait(lock, stop, may_begin)) return Err(Code::kUnavailable, "nobody waits for this any more");
  taken_.insert(tenant);
  return Turn(*this, std::move(tenant));
}

Turns::Turn::~Turn() {
  if (turns_ == nullptr) return;
  {
    const std::scoped_lock lock(turns_->mutex_);
    turns_->taken_.erase(tenant_);
  }
  turns_->over_.notify_all();
}

}  // namespace skerry::base
