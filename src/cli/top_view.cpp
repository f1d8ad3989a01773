#include "cli/top_view.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <tuple>
#include <utility>

#include "cli/answer.hpp"
#include "cli/cell_text.hpp"
#include "cli/table.hpp"
#include "confirm/glyphs.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::string>;

constexpr std::array kSortNames = {
    std::pair{std::string_view("cpu"), TopSort::kCpu},         std::pair{std::string_view("memory"), TopSort::kMemory},
    std::pair{std::string_view("pids"), TopSort::kPids},       std::pair{std::string_view("disk"), TopSort::kDisk},
    std::pair{std::string_view("network"), TopSort::kNetwork}, std::pair{std::string_view("age"), TopSort::kAge}};

double RealIn(const Json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

std::vector<double> RealsIn(const Json& object, const char* name) {
  std::vector<double> values;
  for (const Json& value : ListIn(object, name))
    if (value.is_number()) values.push_back(value.get<double>());
  return values;
}

SandboxReading ReadingFrom(const Json& sandbox) {
  const Json& usage = ObjectIn(sandbox, "usage");
  const Json& recent = ObjectIn(sandbox, "recent");
  SandboxReading reading{.session = TextIn(sandbox, "session_id"),
                         .execution = TextIn(sandbox, "execution_id"),
                         .tenant = TextIn(sandbox, "tenant"),
                         .state = TextIn(sandbox, "state"),
                         .what = TextIn(sandbox, "what"),
                         .started = TimeIn(sandbox, "started_at"),
                         .cpu_percent = RealIn(usage, "cpu_percent"),
                         .cpu_limit_percent = NumberIn(usage, "cpu_limit_percent"),
                         .memory = NumberIn(usage, "memory_bytes"),
                         .memory_limit = NumberIn(usage, "memory_limit_bytes"),
                         .pids = NumberIn(usage, "pids"),
                         .pids_limit = NumberIn(usage, "pids_limit"),
                         .received = NumberIn(usage, "received_bytes"),
                         .sent = NumberIn(usage, "sent_bytes"),
                         .disk = NumberIn(usage, "disk_bytes"),
                         .disk_limit = NumberIn(usage, "disk_limit_bytes"),
                         .recent_cpu = RealsIn(recent, "cpu_percent"),
                         .recent_memory = RealsIn(recent, "memory_bytes"),
                         .alerts = {}};
  for (const Json& alert : ListIn(sandbox, "alerts"))
    if (alert.is_string()) reading.alerts.push_back(alert.get<std::string>());
  return reading;
}

// --- figures ---

std::string Percent(double value) {
  return std::to_string(std::llround(std::clamp(value, 0.0, 1e6)));
}

// The top of a graph: the limit; without one the highest value.
double Ceiling(std::uint64_t limit, const std::vector<double>& recent, double least) {
  if (limit != 0) return static_cast<double>(limit);
  return recent.empty() ? least : std::max(least, std::ranges::max(recent));
}

std::string CpuGraph(const SandboxReading& reading, std::size_t cells, GraphLetters letters) {
  constexpr double kOneCore = 100;
  return Sparkline(reading.recent_cpu, Ceiling(reading.cpu_limit_percent, reading.recent_cpu, kOneCore), cells,
                   letters);
}

std::string MemoryGraph(const SandboxReading& reading, std::size_t cells, GraphLetters letters) {
  return Sparkline(reading.recent_memory, Ceiling(reading.memory_limit, reading.recent_memory, 1), cells, letters);
}

std::string AgeOf(const SandboxReading& reading, core::TimePoint now) {
  if (!reading.started) return "-";
  return ShortTime(std::chrono::duration_cast<std::chrono::seconds>(now - *reading.started));
}

std::string OfLimit(const std::string& value, std::uint64_t limit, const std::string& shown) {
  return limit == 0 ? value + ", no limit" : value + " of " + shown;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// --- the table ---

constexpr std::size_t kNameCells = 18;
constexpr std::size_t kStateCells = 7;
constexpr std::size_t kCpuCells = 5;
constexpr std::size_t kGraphCells = 10;
constexpr std::size_t kShortCells = 6;
constexpr std::size_t kAgeCells = 7;

std::string Head(const char* name, TopSort column, const TopPage& page) {
  return page.sort == column ? std::string(name) + "*" : name;
}

// The columns; a narrow terminal cuts the last ones first.
std::string HeadRow(const TopPage& page) {
  return LeftIn("SESSION", kNameCells) + " " + LeftIn("STATE", kStateCells) + " " +
         RightIn(Head("CPU%", TopSort::kCpu, page), kCpuCells) + " " + LeftIn("", kGraphCells) + " " +
         RightIn(Head("MEM", TopSort::kMemory, page), kShortCells) + " " + LeftIn("", kGraphCells) + " " +
         RightIn(Head("PIDS", TopSort::kPids, page), kShortCells) + " " +
         RightIn(Head("DISK", TopSort::kDisk, page), kShortCells) + " " +
         RightIn(Head("NET", TopSort::kNetwork, page), kShortCells) + " " +
         RightIn(Head("AGE", TopSort::kAge, page), kAgeCells) + "  WHAT";
}

std::string SandboxRow(const SandboxReading& reading, const TopPage& page) {
  const std::string mark = reading.alerts.empty() ? "" : "!";
  return LeftIn(mark + reading.id(), kNameCells) + " " + LeftIn(reading.state, kStateCells) + " " +
         RightIn(Percent(reading.cpu_percent), kCpuCells) + " " + CpuGraph(reading, kGraphCells, page.letters) + " " +
         RightIn(ShortBytes(reading.memory), kShortCells) + " " + MemoryGraph(reading, kGraphCells, page.letters) +
         " " + RightIn(std::to_string(reading.pids), kShortCells) + " " +
         RightIn(ShortBytes(reading.disk), kShortCells) + " " +
         RightIn(ShortBytes(reading.received + reading.sent), kShortCells) + " " +
         RightIn(AgeOf(reading, page.now), kAgeCells) + "  " + confirm::Visible(FirstLineOf(reading.what));
}

std::string Sums(const std::vector<SandboxReading>& readings, const TopPage& page) {
  double cpu = 0;
  std::uint64_t memory = 0;
  std::size_t alerts = 0;
  for (const SandboxReading& reading : readings) {
    cpu += reading.cpu_percent;
    memory += reading.memory;
    alerts += reading.alerts.size();
  }
  const auto counted = [](std::uint64_t count, const std::string& one, const std::string& many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
  };
  std::string text = "skerry top   " + counted(readings.size(), "sandbox", "sandboxes") + "   CPU " + Percent(cpu) +
                     " %   memory " + ShortBytes(memory);
  if (page.waiting) text += "   " + counted(*page.waiting, "approval waits", "approvals wait");
  return text + "   " + counted(alerts, "alert", "alerts");
}

std::string Painted(const std::string& row, std::string_view how, const TopPage& page) {
  return page.colour == confirm::Colour::kNone ? row : "\x1b[" + std::string(how) + "m" + row + "\x1b[0m";
}

std::string PaintedSandbox(const SandboxReading& reading, const TopPage& page) {
  const bool selected = reading.id() == page.selected;
  const std::string row = CutTo(SandboxRow(reading, page), page.size.columns);
  if (selected) return Painted(LeftIn(row, page.size.columns), reading.alerts.empty() ? "7" : "7;31", page);
  return reading.alerts.empty() ? row : Painted(row, "31", page);
}

// The first reading to show, so that the selected one is visible.
std::size_t FirstShown(const std::vector<SandboxReading>& readings, const TopPage& page, std::size_t room) {
  const auto found = std::ranges::find(readings, page.selected, &SandboxReading::id);
  const auto at = static_cast<std::size_t>(found - readings.begin());
  if (found == readings.end() || at < room) return 0;
  return at - room + 1;
}

Rows Table(const std::vector<SandboxReading>& readings, const TopPage& page, std::size_t room) {
  Rows rows = {Painted(CutTo(HeadRow(page), page.size.columns), "1", page)};
  const std::size_t most = room == 0 ? readings.size() : room - 1;
  const std::size_t first = FirstShown(readings, page, std::max<std::size_t>(1, most));
  for (std::size_t at = first; at < readings.size() && rows.size() <= most; ++at)
    rows.push_back(PaintedSandbox(readings[at], page));
  if (readings.empty())
    rows.push_back(CutTo("no sandboxes; skerry session create and skerry exec make one", page.size.columns));
  return rows;
}

// --- the other pages ---

Rows Details(const std::vector<SandboxReading>& readings, const TopPage& page) {
  const auto found = std::ranges::find(readings, page.selected, &SandboxReading::id);
  if (found == readings.end()) return {CutTo(page.selected + " is gone; Enter goes back", page.size.columns)};
  constexpr std::size_t kWide = 60;
  const SandboxReading& it = *found;
  const std::string limit = std::to_string(it.cpu_limit_percent);
  const std::vector<std::pair<std::string, std::string>> fields = {
      {it.session.empty() ? "execution" : "session", it.id()},
      {"tenant", it.tenant},
      {"state", it.state},
      {"since", it.started ? Moment(*it.started) : "-"},
      {"cpu", OfLimit(Percent(it.cpu_percent), it.cpu_limit_percent, limit) + " % of a core"},
      {"", CpuGraph(it, kWide, page.letters)},
      {"memory", OfLimit(ShortBytes(it.memory), it.memory_limit, ShortBytes(it.memory_limit))},
      {"", MemoryGraph(it, kWide, page.letters)},
      {"pids", OfLimit(std::to_string(it.pids), it.pids_limit, std::to_string(it.pids_limit))},
      {"disk", OfLimit(ShortBytes(it.disk), it.disk_limit, ShortBytes(it.disk_limit))},
      {"network", ShortBytes(it.received) + " received, " + ShortBytes(it.sent) + " sent"},
      {"alerts", it.alerts.empty() ? "none" : Joined(it.alerts)},
      {"what", it.what.empty() ? "nothing runs" : std::string(FirstLineOf(it.what))}};
  Rows rows;
  for (const auto& [name, value] : fields)
    rows.push_back(CutTo("  " + LeftIn(name, 10) + " " + value, page.size.columns));
  rows.emplace_back();
  rows.push_back(CutTo("  Enter goes back, K ends what runs in it", page.size.columns));
  return rows;
}

Rows Help(const TopPage& page) {
  Rows rows;
  for (const char* row :
       {"  c m p d n a   sort by CPU, memory, pids, disk, network, age", "  arrows, j k   select",
        "  Enter         more about the selected one", "  K             end what runs in the selected one; asks first",
        "  q             quit", "  ?             this, and back", "",
        "  CPU% is of one core. ! marks an alert. NET is received and sent, both since the sandbox is there."})
    rows.push_back(CutTo(row, page.size.columns));
  return rows;
}

}  // namespace

std::vector<SandboxReading> ReadingsFrom(const Json& items) {
  std::vector<SandboxReading> readings;
  for (const Json& item : items) readings.push_back(ReadingFrom(item));
  return readings;
}

std::optional<TopSort> ParseTopSort(std::string_view name) {
  const auto* found = std::ranges::find(kSortNames, name, &std::pair<std::string_view, TopSort>::first);
  return found == kSortNames.end() ? std::nullopt : std::optional(found->second);
}

void SortReadings(std::vector<SandboxReading>& readings, TopSort sort) {
  const auto weight = [&](const SandboxReading& reading) -> double {
    switch (sort) {
      case TopSort::kCpu:
        return reading.cpu_percent;
      case TopSort::kMemory:
        return static_cast<double>(reading.memory);
      case TopSort::kPids:
        return static_cast<double>(reading.pids);
      case TopSort::kDisk:
        return static_cast<double>(reading.disk);
      case TopSort::kNetwork:
        return static_cast<double>(reading.received + reading.sent);
      case TopSort::kAge:
        return reading.started ? -std::chrono::duration<double>(reading.started->time_since_epoch()).count() : -1e18;
    }
    return 0;
  };
  std::ranges::sort(readings, [&](const SandboxReading& one, const SandboxReading& other) {
    return std::tuple(-weight(one), one.id()) < std::tuple(-weight(other), other.id());
  });
}

std::vector<std::string> TopRows(const std::vector<SandboxReading>& readings, const TopPage& page) {
  constexpr std::uint64_t kAround = 3;  // the sums, an empty row, the notice
  constexpr std::uint64_t kLeast = 2;
  const std::size_t room = page.size.rows == 0 ? 0 : std::max(kLeast + kAround, page.size.rows) - kAround;
  Rows rows = {CutTo(Sums(readings, page), page.size.columns), ""};
  Rows body = page.kind == TopPage::Kind::kHelp      ? Help(page)
              : page.kind == TopPage::Kind::kDetails ? Details(readings, page)
                                                     : Table(readings, page, room);
  if (room != 0) body.resize(room);
  for (std::string& row : body) rows.push_back(std::move(row));
  if (room != 0) rows.push_back(CutTo(page.notice, page.size.columns));
  if (page.size.rows != 0 && rows.size() > page.size.rows) rows.resize(page.size.rows);
  return rows;
}

}  // namespace skerry::cli
