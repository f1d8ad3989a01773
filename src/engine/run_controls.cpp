#include "engine/run_controls.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace skerry::engine {
namespace {

constexpr std::chrono::milliseconds kSlice{20};  // of a wait for the process, which cannot be detached meanwhile

std::unexpected<base::Error> NoInput() {
  return base::Err(base::Code::kConflict, "it takes no input: it has ended, was made without, or its input was closed");
}

}  // namespace

base::Result<std::size_t> RunControls::Feed(std::string_view bytes) {
  const std::scoped_lock lock(mutex_);
  if (!open_) return NoInput();
  if (process_ != nullptr) return process_->Feed(bytes);
  if (taken_) return 0;  // the program is about to begin, or has ended
  const std::string_view fitting = bytes.substr(0, kMostKept - early_.size());
  early_ += fitting;
  return fitting.size();
}

bool RunControls::AwaitRoom(base::Deadline deadline) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (!open_) return true;
    const auto slice = deadline.EarlierOf(base::Deadline::After(kSlice));
    if (process_ != nullptr) {
      core::Process& process = *process_;
      ++waiting_;
      lock.unlock();
      const bool room = process.AwaitRoom(slice);
      lock.lock();
      --waiting_;
      changed_.notify_all();
      if (room) return true;
    } else if (!taken_ && early_.size() < kMostKept) {
      return true;
    } else {
      (void)changed_.wait_for(lock, slice.Remaining());
    }
    if (deadline.Expired()) return false;
  }
}

base::Status RunControls::CloseInput() {
  const std::scoped_lock lock(mutex_);
  if (!open_) return NoInput();
  if (process_ != nullptr) SKERRY_RETURN_IF_ERROR(process_->CloseInput());
  if (process_ == nullptr && taken_)
    return base::Err(base::Code::kUnavailable, "the program is about to begin; close its input then");
  open_ = false;
  changed_.notify_all();
  return {};
}

base::Status RunControls::Signal(int number) {
  const std::scoped_lock lock(mutex_);
  if (process_ != nullptr) return process_->Signal(number);
  if (early_signals_.size() >= kMostSignals) return base::Err(base::Code::kConflict, "too many signals wait already");
  early_signals_.push_back(number);
  return {};
}

base::Status RunControls::Resize(const core::TerminalSize& size) {
  const std::scoped_lock lock(mutex_);
  size_ = size;
  return process_ != nullptr ? process_->Resize(size) : base::Status{};
}

core::TerminalSize RunControls::size() const {
  const std::scoped_lock lock(mutex_);
  return size_.value_or(core::TerminalSize{});
}

bool RunControls::takes_input() const {
  const std::scoped_lock lock(mutex_);
  return open_;
}

void RunControls::End() {
  const std::scoped_lock lock(mutex_);
  open_ = false;
  changed_.notify_all();
}

RunInput RunControls::TakeInput() {
  const std::scoped_lock lock(mutex_);
  taken_ = true;
  return {.text = std::exchange(early_, ""), .end = open_ ? core::InputEnd::kOpen : core::InputEnd::kClosed};
}

RunControls::Attachment RunControls::Attach(core::Process& process) {
  const std::scoped_lock lock(mutex_);
  process_ = &process;
  for (const int number : std::exchange(early_signals_, {})) (void)process.Signal(number);
  if (size_) (void)process.Resize(*size_);
  changed_.notify_all();
  return Attachment(*this);
}

RunControls::Attachment::~Attachment() {
  std::unique_lock lock(controls_.mutex_);
  controls_.process_ = nullptr;
  controls_.open_ = false;
  controls_.changed_.notify_all();
  controls_.changed_.wait(lock, [&] { return controls_.waiting_ == 0; });
}

}  // namespace skerry::engine
