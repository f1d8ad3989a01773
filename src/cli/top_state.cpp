#include "cli/top_state.hpp"

#include <algorithm>
#include <utility>

#include "cli/cell_text.hpp"

namespace skerry::cli {
namespace {

std::optional<TopSort> SortOfKey(char letter) {
  switch (letter) {
    case 'c':
      return TopSort::kCpu;
    case 'm':
      return TopSort::kMemory;
    case 'p':
      return TopSort::kPids;
    case 'd':
      return TopSort::kDisk;
    case 'n':
      return TopSort::kNetwork;
    case 'a':
      return TopSort::kAge;
    default:
      return std::nullopt;
  }
}

}  // namespace

void TopState::Take(std::vector<SandboxReading> readings) {
  readings_ = std::move(readings);
  SortReadings(readings_, sort_);
  const bool there = std::ranges::find(readings_, selected_, &SandboxReading::id) != readings_.end();
  // The page of a sandbox that is gone says so.
  if (!there && kind_ != TopPage::Kind::kDetails) selected_ = readings_.empty() ? "" : readings_.front().id();
}

void TopState::SortBy(TopSort sort) {
  sort_ = sort;
  SortReadings(readings_, sort_);
}

void TopState::Move(int step) {
  const auto found = std::ranges::find(readings_, selected_, &SandboxReading::id);
  const auto at = (found == readings_.end() ? readings_.begin() : found) - readings_.begin() + step;
  if (at >= 0 && at < std::ssize(readings_)) selected_ = readings_[static_cast<std::size_t>(at)].id();
}

TopWish TopState::Press(const Key& key) {
  using Page = TopPage::Kind;
  if (asked_) return PressWhileAsked(key);
  const char letter = key.letter();
  if (letter == 'q') return {.kind = TopWish::Kind::kQuit};
  if (letter == '?') kind_ = kind_ == Page::kHelp ? Page::kTable : Page::kHelp;
  if (key.kind == Key::Kind::kEscape) kind_ = Page::kTable;
  if (key.kind == Key::Kind::kEnter)
    kind_ = kind_ == Page::kTable && !selected_.empty() ? Page::kDetails : Page::kTable;
  if (key.kind == Key::Kind::kUp || letter == 'k') Move(-1);
  if (key.kind == Key::Kind::kDown || letter == 'j') Move(1);
  if (const auto sort = SortOfKey(letter)) SortBy(*sort);
  const auto found = std::ranges::find(readings_, selected_, &SandboxReading::id);
  if (letter == 'K' && found != readings_.end()) asked_ = *found;
  return {};
}

TopWish TopState::PressWhileAsked(const Key& key) {
  const SandboxReading whom = *std::exchange(asked_, std::nullopt);
  if (key.letter() != 'y' && key.letter() != 'Y') return {};
  return {.kind = TopWish::Kind::kEndRuns, .whom = whom};
}

TopPage TopState::Page(const std::string& notice) const {
  TopPage page{.kind = kind_, .sort = sort_, .selected = selected_, .notice = notice};
  if (page.notice.empty()) page.notice = "q quits, ? helps";
  constexpr std::size_t kName = 40;
  if (asked_) page.notice = "End everything that runs in " + CutTo(asked_->id(), kName) + "? y or n";
  return page;
}

}  // namespace skerry::cli
