#include "cli/question_round.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "cli/answer.hpp"
#include "cli/approvals_text.hpp"
#include "cli/cell_text.hpp"
#include "confirm/glyphs.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

// The end of the typed text, where the person looks.
std::string TypedTail(const std::string& typed, std::size_t cells) {
  std::string tail = confirm::Visible(typed);
  while (!tail.empty() && confirm::WidthOf(tail) > cells) {
    std::size_t length = 1;
    while (length < tail.size() && (static_cast<unsigned char>(tail[length]) & 0xC0U) == 0x80U) ++length;
    tail.erase(0, length);
  }
  return tail;
}

std::string KeysFor(const Json& approval) {
  std::string keys = "a once";
  if (Offers(approval, "session")) keys += "  s session";
  if (Offers(approval, "content")) keys += "  c content";
  return keys + "  r reject  n next  v view  q quit";
}

std::string LeftFor(const WaitingQuestion& question) {
  if (question.until.IsNever()) return "waits";
  return ShortTime(std::chrono::ceil<std::chrono::seconds>(question.until.Remaining())) + " left";
}

}  // namespace

bool QuestionRound::Add(Json approval) {
  std::string id = TextIn(approval, "id");
  if (id.empty() || !IsWaiting(approval) || std::ranges::find(waiting_, id, &WaitingQuestion::id) != waiting_.end())
    return false;
  const std::chrono::seconds left(NumberIn(approval, "remaining_seconds"));
  waiting_.push_back({std::move(id), std::move(approval), base::Deadline::After(left)});
  return true;
}

bool QuestionRound::Remove(const std::string& id) {
  return std::erase_if(waiting_, [&](const WaitingQuestion& question) { return question.id == id; }) != 0;
}

std::vector<std::string> QuestionRound::Replace(const Json& approvals) {
  std::vector<std::string> gone;
  for (const WaitingQuestion& question : waiting_)
    if (std::ranges::none_of(approvals, [&](const Json& other) { return TextIn(other, "id") == question.id; }))
      gone.push_back(question.id);
  for (const std::string& id : gone) Remove(id);
  for (const Json& approval : approvals) Add(approval);
  return gone;
}

void QuestionRound::Next() {
  if (waiting_.size() < 2) return;
  std::rotate(waiting_.begin(), waiting_.begin() + 1, waiting_.end());
}

std::string StatusRow(const QuestionRound& round, const RoundStatus& status, std::size_t width) {
  const WaitingQuestion* question = round.front();
  if (status.line == RoundStatus::Line::kLost)
    return CutTo("the connection to the daemon was lost; trying again; q quits", width);
  if (question == nullptr) return CutTo("nothing waits; q quits", width);
  std::string row = "[" + LeftFor(*question);
  if (round.size() > 1) row += ", " + std::to_string(round.size() - 1) + " more";
  row += "] ";
  if (status.reason) {
    row += "reason (Enter rejects, Esc goes back): ";
    const std::size_t taken = confirm::WidthOf(row);
    return CutTo(row + TypedTail(*status.reason, width - std::min(width, taken)), width);
  }
  return CutTo(row + (status.keys == RoundStatus::Keys::kHeeded ? KeysFor(question->approval) : "…"), width);
}

}  // namespace skerry::cli
