#include "engine/watched.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>
#include <vector>

namespace skerry::engine {

Watched::Registration& Watched::Registration::operator=(Registration&& other) noexcept {
  if (this == &other) return *this;
  Leave();
  watched_ = std::exchange(other.watched_, nullptr);
  number_ = other.number_;
  return *this;
}

void Watched::Registration::Leave() {
  if (watched_ == nullptr) return;
  std::shared_ptr<Entry> entry;
  {
    const std::scoped_lock lock(watched_->mutex_);
    if (const auto left = watched_->sandboxes_.extract(number_)) {
      entry = left.mapped();
      watched_->Share(entry->sandbox.tenant);
    }
  }
  watched_ = nullptr;
  if (entry == nullptr) return;
  const std::scoped_lock looking(entry->looking);
  entry->left = true;
}

Watched::Registration Watched::Enter(WatchedSandbox sandbox) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t number = next_++;
  auto entry = std::make_shared<Entry>();
  entry->sandbox = std::move(sandbox);
  sandboxes_.emplace(number, entry);
  Share(entry->sandbox.tenant);
  return {*this, number};
}

void Watched::ForEach(const Look& look) {
  std::vector<std::shared_ptr<Entry>> all;
  {
    const std::scoped_lock lock(mutex_);
    all.reserve(sandboxes_.size());
    for (const auto& [number, entry] : sandboxes_) all.push_back(entry);
  }
  std::set<std::string> tenants;
  for (const auto& entry : all) {
    std::optional<std::chrono::nanoseconds> used;
    {
      const std::scoped_lock looking(entry->looking);
      if (entry->left) continue;
      used = look(entry->sandbox);
    }
    const std::scoped_lock lock(mutex_);
    Notice(*entry, used);
    tenants.insert(entry->sandbox.tenant);
  }
  for (const std::string& tenant : tenants) {
    const std::scoped_lock lock(mutex_);
    Share(tenant);
  }
}

void Watched::Notice(Entry& entry, std::optional<std::chrono::nanoseconds> used) {
  constexpr int kParts = 100;  // of a processor; less than one part counts as quiet
  const auto now = std::chrono::steady_clock::now();
  const bool known = used && entry.used && *used >= *entry.used;
  const bool quiet = known && (*used - *entry.used) * kParts < now - entry.at;
  entry.quiet_looks = quiet ? entry.quiet_looks + 1 : 0;
  entry.used = used;
  entry.at = now;
}

void Watched::Share(const std::string& tenant) {
  constexpr std::size_t kMost = 64;  // more make no difference to the kernel
  const auto is_busy = [&](const auto& entry) {
    return entry.second->busy() && entry.second->sandbox.tenant == tenant;
  };
  const auto busy = static_cast<std::size_t>(std::ranges::count_if(sandboxes_, is_busy));
  const auto parts = static_cast<std::uint32_t>(std::bit_ceil(std::clamp<std::size_t>(busy, 1, kMost)));
  for (const auto& [number, entry] : sandboxes_)
    if (entry->sandbox.tenant == tenant && entry->parts != parts && entry->sandbox.sandbox->ShareProcessors(parts))
      entry->parts = parts;
}

std::size_t Watched::Count() const {
  const std::scoped_lock lock(mutex_);
  return sandboxes_.size();
}

}  // namespace skerry::engine
