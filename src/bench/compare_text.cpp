#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "bench/compare.hpp"
#include "json/text.hpp"

namespace skerry::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kNameWidth = 20;
constexpr std::size_t kFigureWidth = 11;

std::string NameOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSame:
      return "same";
    case Verdict::kBetter:
      return "better";
    case Verdict::kWorse:
      return "WORSE";
    case Verdict::kUnknown:
      return "unknown";
  }
  return "";
}

std::string Padded(const std::string& text, std::size_t width) {
  return std::string(width > text.size() ? width - text.size() : 1, ' ') + text;
}

std::string RatioText(const std::optional<double>& ratio) {
  return ratio ? HumanRatio(*ratio) : "-";
}

std::string TimeText(Duration duration) {
  return duration == Duration{} ? "-" : HumanDuration(duration);
}

std::string Line(const Change& change) {
  const std::string name = base::Printable(change.group + " " + change.subject);
  std::string line = name + std::string(name.size() < kNameWidth ? kNameWidth - name.size() : 1, ' ');
  for (const std::string& text : {RatioText(change.ratio_before), RatioText(change.ratio_after),
                                  RatioText(change.target), TimeText(change.p50_before), TimeText(change.p50_after)})
    line += Padded(text, kFigureWidth);
  line += "   " + NameOf(change.verdict);
  return change.note.empty() ? line : line + ": " + base::Printable(change.note);
}

template <class T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json TimeOrNull(Duration duration) {
  return duration == Duration{} ? Json(nullptr) : Json(std::chrono::duration<double, std::micro>(duration).count());
}

Json ChangeToJson(const Change& change) {
  Json object = {{"group", change.group},
                 {"subject", change.subject},
                 {"ratio_before", OrNull(change.ratio_before)},
                 {"ratio_after", OrNull(change.ratio_after)},
                 {"target", OrNull(change.target)},
                 {"p50_us_before", TimeOrNull(change.p50_before)},
                 {"p50_us_after", TimeOrNull(change.p50_after)},
                 {"verdict", change.verdict == Verdict::kWorse ? "worse" : NameOf(change.verdict)}};
  if (!change.note.empty()) object["note"] = change.note;
  return object;
}

}  // namespace

std::string ToTable(const Comparison& comparison) {
  std::string text = "before: " + base::Printable(comparison.before) +
                     "\nafter:  " + base::Printable(comparison.after) + "\n\n" + std::string(kNameWidth, ' ');
  for (const char* heading : {"ratio", "now", "target", "p50", "now"}) text += Padded(heading, kFigureWidth);
  text += "\n";
  for (const Change& change : comparison.changes) text += Line(change) + "\n";
  for (const std::string& remark : comparison.remarks) text += "note: " + base::Printable(remark) + "\n";
  return text + (comparison.AnyWorse() ? "\nWorse by a quarter or more: see above.\n"
                                       : "\nNothing got worse by a quarter or more.\n");
}

std::string ToJson(const Comparison& comparison) {
  Json changes = Json::array();
  for (const Change& change : comparison.changes) changes.push_back(ChangeToJson(change));
  const Json object = {{"before", comparison.before},
                       {"after", comparison.after},
                       {"worse", comparison.AnyWorse()},
                       {"changes", std::move(changes)},
                       {"remarks", comparison.remarks}};
  return json::IndentedText(object);
}

}  // namespace skerry::bench
