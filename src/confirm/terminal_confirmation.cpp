#include "confirm/terminal_confirmation.hpp"

#include <algorithm>
#include <utility>

#include "confirm/glyphs.hpp"
#include "confirm/wait.hpp"

namespace skerry::confirm {
namespace {

constexpr int kMostQuestions = 3;
constexpr std::size_t kDigestDigits = 16;
constexpr unsigned kUsualWidth = 80;

enum class Reply { kOnce, kSession, kNo, kUnclear };
enum class SessionChoice { kOffered, kNotOffered };

std::string Simplified(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = line.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return "";
  std::string word(line.substr(begin, line.find_last_not_of(kBlank) - begin + 1));
  for (char& c : word)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return word;
}

Reply Understand(std::string_view line, SessionChoice choice) {
  const std::string word = Simplified(line);
  if (word == "y" || word == "yes") return Reply::kOnce;
  if ((word == "s" || word == "session") && choice == SessionChoice::kOffered) return Reply::kSession;
  if (word.empty() || word == "n" || word == "no") return Reply::kNo;
  return Reply::kUnclear;
}

std::string_view PromptFor(SessionChoice choice) {
  return choice == SessionChoice::kOffered ? "Run this? [y] once, [s] for this session, [N] no: "
                                           : "Run this? [y] yes, [N] no: ";
}

Answer Make(Decision decision, std::string reason, Scope scope = Scope::kOnce) {
  return {.decision = decision, .scope = scope, .by = "terminal", .reason = std::move(reason)};
}

// The answer when it is too late for one, whatever was typed.
std::optional<Answer> TooLate(base::Deadline deadline, const std::stop_token& stop) {
  if (stop.stop_requested()) return Make(Decision::kCancelled, "the asker went away");
  if (deadline.Expired()) return Make(Decision::kExpired, "nobody answered in time");
  return std::nullopt;
}

std::string Conditions(const Question& question) {
  std::size_t widest = 0;
  for (const auto& [name, value] : question.conditions) widest = std::max(widest, WidthOf(Visible(name)));
  std::string rows;
  for (const auto& [name, value] : question.conditions) {
    const std::string shown = Visible(name);
    rows += "  " + shown + std::string(widest - WidthOf(shown) + 2, ' ') + Visible(value) + "\n";
  }
  return rows;
}

}  // namespace

Answer TerminalConfirmation::Ask(const Question& question, base::Deadline deadline, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  if (!WaitUntil(free_, lock, deadline, stop, [this] { return !busy_; }))
    return TooLate(deadline, stop).value_or(Make(Decision::kRejected, "the terminal is in use"));
  busy_ = true;
  lock.unlock();
  Answer answer = Converse(question, deadline, stop);
  lock.lock();
  busy_ = false;
  free_.notify_all();
  return answer;
}

Answer TerminalConfirmation::Converse(const Question& question, base::Deadline deadline, const std::stop_token& stop) {
  if (!terminal_.IsInteractive())
    return Make(Decision::kRejected, "nobody can be asked: there is no terminal; --yes approves");
  const bool offer = options_.allow_session && !question.session.empty() && !question.once_only;
  const SessionChoice choice = offer ? SessionChoice::kOffered : SessionChoice::kNotOffered;
  terminal_.Write(Describe(question));
  for (int asked = 0; asked < kMostQuestions; ++asked) {
    // Keys that were typed before the prompt cannot be meant for this question; an answer right after it is.
    terminal_.DiscardTypeahead();
    terminal_.Write(PromptFor(choice));
    const std::optional<std::string> line = terminal_.ReadLine(deadline, stop);
    if (!line) terminal_.Write("\n");
    if (auto answer = TooLate(deadline, stop)) return *std::move(answer);
    if (!line) return Make(Decision::kRejected, "the terminal was closed");
    switch (Understand(*line, choice)) {
      case Reply::kOnce:
        return Make(Decision::kApproved, "approved at the terminal");
      case Reply::kSession:
        return Make(Decision::kApproved, "approved at the terminal for this session", Scope::kSession);
      case Reply::kNo:
        return Make(Decision::kRejected, "rejected at the terminal");
      case Reply::kUnclear:
        break;
    }
  }
  return Make(Decision::kRejected, "no clear answer at the terminal");
}

std::string TerminalConfirmation::Describe(const Question& question) {
  const Colour colour = terminal_.Colours();
  const unsigned width = terminal_.Width();
  const core::RiskAssessment& risk = question.risk;
  const std::string level = Coloured(std::string(core::NameOf(risk.level)) + " risk", risk.level, colour);
  std::string text = "\n" + level + ": " + Visible(risk.reason) + "\n" + Conditions(question) + "\n";
  text += Visible(question.content_type) + ":\n";
  text += CodeView(question.code, risk.findings,
                   {.colour = colour,
                    .long_lines = LongLines::kWrap,
                    .max_lines = options_.max_rows,
                    .context = options_.context,
                    .width = width == 0 ? kUsualWidth : width});
  // The level is shown again: the beginning of long code has scrolled away.
  return text + "\n" + level + ", digest " + Visible(std::string_view(question.digest).substr(0, kDigestDigits)) + "\n";
}

}  // namespace skerry::confirm
