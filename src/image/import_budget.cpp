#include "image/import_budget.hpp"

#include <string>

namespace skerry::image {

base::Status ImportBudget::TakeBytes(std::uint64_t count) {
  if (count > limits_.max_bytes - used_.bytes)
    return base::Err(base::Code::kTooLarge, "the archive unpacks to more than " +
                                                std::to_string(limits_.max_bytes >> 20U) +
                                                " MB; raise the limit with --max-size if that is meant");
  used_.bytes += count;
  return Report();
}

base::Status ImportBudget::TakeEntry() {
  if (used_.entries >= limits_.max_entries)
    return base::Err(base::Code::kTooLarge,
                     "the archive has more than " + std::to_string(limits_.max_entries) + " files and directories");
  ++used_.entries;
  return Report();
}

ImportBudget ImportBudget::ForLooking() const {
  ImportBudget copy = *this;
  copy.shown_ = used_;
  return copy;
}

base::Status ImportBudget::Report() {
  if (sink_ == nullptr || sink_->Report(shown_.value_or(used_)) == ProgressAnswer::kGoOn) return {};
  return base::Err(base::Code::kRejected, "the import was stopped; nothing is left of it");
}

}  // namespace skerry::image
