#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "base/utf8.hpp"
#include "bench/report.hpp"
#include "json/text.hpp"
#include "os/files.hpp"

namespace skerry::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxFile = 16U << 20U;

// Microseconds with three decimals: the precision of the clock, without the noise of binary fractions.
double Microseconds(Duration duration) {
  return std::round(std::chrono::duration<double, std::micro>(duration).count() * 1000) / 1000;
}

template <class T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json SubjectToJson(const SubjectFigures& subject) {
  const bool measured = subject.n > 0;
  const auto time = [measured](Duration duration) { return measured ? Json(Microseconds(duration)) : Json(nullptr); };
  Json object = {{"name", subject.name},
                 {"p50_us", time(subject.p50)},
                 {"p99_us", time(subject.p99)},
                 {"min_us", time(subject.min)},
                 {"n", subject.n},
                 {"failures", subject.failures},
                 {"ratio", OrNull(subject.ratio)},
                 {"target", OrNull(subject.target.ratio)},
                 {"met", OrNull(subject.met)}};
  if (subject.target.p50) object["target_us"] = Microseconds(*subject.target.p50);
  object["steps"] = Json::object();
  for (const auto& [name, duration] : subject.steps) object["steps"][name] = Microseconds(duration);
  if (!subject.failure.empty()) object["failure"] = subject.failure;
  if (!subject.failed.empty()) object["failed"] = subject.failed;
  if (!subject.skipped.empty()) object["skipped"] = subject.skipped;
  return object;
}

Json GroupToJson(const GroupFigures& group) {
  Json subjects = Json::array();
  for (const SubjectFigures& subject : group.subjects) subjects.push_back(SubjectToJson(subject));
  return {{"name", group.name}, {"title", group.title}, {"baseline", group.baseline}, {"subjects", subjects}};
}

// A place in the document that is being read. The first problem is kept; values that are read after it mean nothing.
class Place {
 public:
  Place(const Json& value, std::string path, std::string& problem)
      : value_(&value), path_(std::move(path)), problem_(&problem) {}

  [[nodiscard]] Place Member(const std::string& name) const {
    static const Json kNothing;
    const bool has = value_->is_object() && value_->contains(name);
    return {has ? (*value_)[name] : kNothing, path_.empty() ? name : path_ + "." + name, *problem_};
  }

  [[nodiscard]] bool Missing() const { return value_->is_null(); }

  [[nodiscard]] std::string Text() const {
    if (!value_->is_string()) return Complain("must be a text"), std::string();
    return value_->get<std::string>();
  }

  [[nodiscard]] double Number() const {
    if (!value_->is_number() || value_->get<double>() < 0) return Complain("must be a number, 0 or more"), 0.0;
    return value_->get<double>();
  }

  [[nodiscard]] bool Truth() const {
    if (!value_->is_boolean()) return Complain("must be true or false"), false;
    return value_->get<bool>();
  }

  [[nodiscard]] std::size_t Count() const {
    if (!value_->is_number_unsigned()) return Complain("must be a whole number, 0 or more"), std::size_t{0};
    return value_->get<std::size_t>();
  }

  [[nodiscard]] Duration Time() const {
    constexpr double kDay = 86'400e6;
    const double microseconds = Number();
    if (microseconds > kDay) return Complain("is longer than a day"), Duration{};
    return Duration(std::llround(microseconds * 1000));
  }

  [[nodiscard]] std::vector<Place> Elements() const {
    std::vector<Place> places;
    if (!value_->is_array()) return Complain("must be an array"), places;
    for (std::size_t i = 0; i < value_->size(); ++i)
      places.emplace_back((*value_)[i], path_ + "[" + std::to_string(i) + "]", *problem_);
    return places;
  }

  [[nodiscard]] std::vector<std::string> Names() const {
    std::vector<std::string> names;
    if (!value_->is_object()) return Complain("must be an object"), names;
    for (const auto& [name, value] : value_->items()) names.push_back(name);
    return names;
  }

  void Complain(const std::string& what) const {
    if (problem_->empty()) *problem_ = base::Printable(path_) + ": " + what;
  }

 private:
  const Json* value_;
  std::string path_;
  std::string* problem_;
};

SubjectFigures SubjectAt(const Place& place) {
  SubjectFigures subject{.name = place.Member("name").Text(), .n = place.Member("n").Count()};
  if (subject.n > 0) {
    subject.p50 = place.Member("p50_us").Time();
    subject.p99 = place.Member("p99_us").Time();
    subject.min = place.Member("min_us").Time();
  }
  if (const Place at = place.Member("failures"); !at.Missing()) subject.failures = at.Count();
  if (const Place at = place.Member("ratio"); !at.Missing()) subject.ratio = at.Number();
  if (const Place at = place.Member("target"); !at.Missing()) subject.target.ratio = at.Number();
  if (const Place at = place.Member("target_us"); !at.Missing()) subject.target.p50 = at.Time();
  if (const Place at = place.Member("met"); !at.Missing()) subject.met = at.Truth();
  if (const Place at = place.Member("failure"); !at.Missing()) subject.failure = at.Text();
  if (const Place at = place.Member("failed"); !at.Missing()) subject.failed = at.Text();
  if (const Place at = place.Member("skipped"); !at.Missing()) subject.skipped = at.Text();
  if (const Place at = place.Member("steps"); !at.Missing())
    for (const std::string& name : at.Names()) subject.steps[name] = at.Member(name).Time();
  return subject;
}

GroupFigures GroupAt(const Place& place) {
  GroupFigures group{.name = place.Member("name").Text(), .baseline = place.Member("baseline").Text()};
  if (const Place at = place.Member("title"); !at.Missing()) group.title = at.Text();
  for (const Place& at : place.Member("subjects").Elements()) {
    SubjectFigures subject = SubjectAt(at);
    if (group.Find(subject.name) != nullptr) at.Complain("the subject '" + subject.name + "' is there twice");
    group.subjects.push_back(std::move(subject));
  }
  return group;
}

Report ReportAt(const Place& place) {
  Report report{.release = place.Member("release").Text(), .date = place.Member("date").Text()};
  const Place machine = place.Member("machine");
  report.machine = {machine.Member("cpus").Count(), machine.Member("kernel").Text(), machine.Member("cgroup").Text()};
  for (const Place& at : place.Member("groups").Elements()) {
    GroupFigures group = GroupAt(at);
    if (report.Find(group.name) != nullptr) at.Complain("the group '" + group.name + "' is there twice");
    report.groups.push_back(std::move(group));
  }
  return report;
}

}  // namespace

std::string ToJson(const Report& report) {
  Json groups = Json::array();
  for (const GroupFigures& group : report.groups) groups.push_back(GroupToJson(group));
  const Json object = {
      {"release", report.release},
      {"date", report.date},
      {"machine",
       {{"cpus", report.machine.cpus}, {"kernel", report.machine.kernel}, {"cgroup", report.machine.cgroup}}},
      {"groups", std::move(groups)}};
  return json::IndentedText(object);
}

base::Result<Report> ParseReport(std::string_view text) {
  SKERRY_ASSIGN_OR_RETURN(const Json document, json::ParseOrTell(text));
  if (!document.is_object()) return base::Err(base::Code::kInvalidArgument, "not a result of skerry bench");
  std::string problem;
  Report report = ReportAt(Place(document, "", problem));
  if (!problem.empty()) return base::Err(base::Code::kInvalidArgument, problem);
  return report;
}

base::Result<Report> ReadReport(const std::string& path) {
  SKERRY_ASSIGN_OR_RETURN(const std::string text, os::ReadFile(path, kMaxFile));
  auto report = ParseReport(text);
  if (!report) report.error().message = base::Printable(path) + ": " + report.error().message;
  return report;
}

}  // namespace skerry::bench
