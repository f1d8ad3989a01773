#include "launcher/vacancies.hpp"

#include <chrono>

#include "launcher/mount_plan.hpp"

namespace skerry::launcher {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

constexpr std::size_t kStock = 2;
constexpr auto kDelay = 5ms;
constexpr auto kAfterFailure = 10s;

}  // namespace

void Vacancies::Keep() {
  kept_ = true;
  next_ = base::Deadline::After(kDelay);
}

std::optional<SandboxProcess> Vacancies::Take(const StartRequest& request, MachineFacts& machine) {
  if (!kept_) return std::nullopt;
  next_ = base::Deadline::After(kDelay);
  // A test that hides features of the machine wants to see the whole set-up.
  if (!FitsTemplate(request) || request.pretend_missing.bits() != 0) return std::nullopt;
  // A limit of a vacancy can be replaced by another value, but not removed.
  likely_ = {request.memory_bytes, request.pids, 0};
  (void)machine.RootTemplateFor();
  while (!stock_.empty()) {
    Vacancy vacancy = std::move(stock_.front());
    stock_.pop_front();
    if (vacancy.template_number == machine.template_number() && vacancy.sandbox.Waits() &&
        vacancy.sandbox.CanBeLimitedTo(request))
      return std::move(vacancy.sandbox);
  }
  return std::nullopt;
}

void Vacancies::Refill(int init_program, MachineFacts& machine) {
  next_ = base::Deadline::Never();
  if (!kept_ || stock_.size() >= kStock) return;
  auto made = SandboxProcess::BeginVacant(init_program, machine, likely_);
  if (!made) {
    next_ = base::Deadline::After(kAfterFailure);
    return;
  }
  stock_.push_back({std::move(*made), machine.template_number()});
  if (stock_.size() < kStock) next_ = base::Deadline::After(kDelay);
}

}  // namespace skerry::launcher
