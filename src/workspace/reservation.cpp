#include "workspace/reservation.hpp"

namespace skerry::workspace {
namespace {

std::uint64_t Excess(std::uint64_t left, std::uint64_t right) {
  return left > right ? left - right : 0;
}

Usage Excess(Usage left, Usage right) {
  return {Excess(left.bytes, right.bytes), Excess(left.entries, right.entries)};
}

Usage Sum(Usage left, Usage right) {
  return {left.bytes + right.bytes, left.entries + right.entries};
}

}  // namespace

base::Status Reservation::Add(Usage more) {
  SKERRY_RETURN_IF_ERROR(usage_->Reserve(more));
  held_ = Sum(held_, more);
  return {};
}

base::Status Reservation::Settle(Usage taken, Usage freed) {
  SKERRY_RETURN_IF_ERROR(Add(Excess(taken, Sum(held_, freed))));
  surplus_ = Excess(Sum(held_, freed), taken);
  return {};
}

void Reservation::Keep() {
  usage_->GiveBack(surplus_);
  held_ = {};
  surplus_ = {};
}

}  // namespace skerry::workspace
