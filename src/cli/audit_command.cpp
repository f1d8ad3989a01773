// skerry audit: what happened, and whether the audit is whole.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/answer.hpp"
#include "cli/command.hpp"
#include "cli/command_output.hpp"
#include "cli/sessions_of.hpp"
#include "cli/terminal.hpp"
#include "json/text.hpp"
#include "watch/audit_log.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFaultsFound = 1;  // exit code

struct AuditOptions {
  std::optional<std::string> path;
  std::optional<std::string> since;
  std::optional<std::string> until;
  std::vector<std::string> events;
  std::optional<std::string> session;
  bool json = false;
};

base::Result<std::string> DirectoryOf(const Context& context, const AuditOptions& options) {
  if (options.path) return *options.path;
  SKERRY_ASSIGN_OR_RETURN(const config::Loaded loaded, context.LoadConfig());
  return AuditPathOf(loaded.config.sandbox);
}

std::string Counted(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string FaultText(const watch::AuditFault& fault) {
  return fault.file + ":" + std::to_string(fault.line) + ": " + fault.what;
}

Json ReportToJson(const std::string& path, const watch::AuditReport& report) {
  Json faults = Json::array();
  for (const watch::AuditFault& fault : report.faults)
    faults.push_back({{"number", fault.number}, {"file", fault.file}, {"line", fault.line}, {"what", fault.what}});
  return {
      {"path", path},        {"whole", report.faults.empty()}, {"records", report.records},  {"first", report.first},
      {"last", report.last}, {"last_hash", report.last_hash},  {"faults", std::move(faults)}};
}

std::string ReportText(const watch::AuditReport& report) {
  std::string text;
  for (const watch::AuditFault& fault : report.faults) text += FaultText(fault) + "\n";
  text += Counted(report.records, "record") + ", " + Counted(report.faults.size(), "fault") + "\n";
  if (report.last != 0) text += "last: record " + std::to_string(report.last) + ", hash " + report.last_hash + "\n";
  return text;
}

base::Result<int> Verify(const Context& context, const AuditOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const std::string path, DirectoryOf(context, options));
  SKERRY_ASSIGN_OR_RETURN(const watch::AuditReport report, watch::VerifyAudit(path));
  SKERRY_RETURN_IF_ERROR(options.json ? WriteJson(ReportToJson(path, report)) : WriteText(ReportText(report)));
  return report.faults.empty() ? 0 : kFaultsFound;
}

// A moment, or the beginning of a day or minute, in the form that records have: they are compared as texts.
base::Result<std::string> MomentOf(std::string text, const char* flag) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:dd.dddddd";
  constexpr std::size_t kDay = 10;
  constexpr std::size_t kMinute = 16;
  constexpr std::size_t kSecond = 19;
  const auto wrong =
      base::Err(base::Code::kInvalidArgument,
                std::string(flag) + " takes a day or a moment in UTC, as 2026-11-16 or 2026-11-16T11:37Z");
  if (text.ends_with('Z') && text.size() > kDay) text.pop_back();
  const bool length = text.size() == kDay || text.size() == kMinute || text.size() == kSecond ||
                      (text.size() > kSecond + 1 && text.size() <= kForm.size());
  const bool form = length && std::ranges::equal(text, kForm.substr(0, text.size()), [](char is, char should) {
                      return should == 'd' ? is >= '0' && is <= '9' : is == should;
                    });
  if (!form) return wrong;
  const auto part = [&](std::size_t at, std::size_t size) {
    return text.size() > at ? static_cast<unsigned>(std::stoul(text.substr(at, size))) : 0;
  };
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(part(0, 4))),
                                         std::chrono::month(part(5, 2)), std::chrono::day(part(8, 2))};
  if (!date.ok() || part(11, 2) > 23 || part(14, 2) > 59 || part(17, 2) > 60) return wrong;
  return text;
}

// Tells which records are wanted.
class Wanted {
 public:
  static base::Result<Wanted> From(const AuditOptions& options) {
    Wanted wanted(options);
    if (options.since) {
      SKERRY_ASSIGN_OR_RETURN(wanted.since_, MomentOf(*options.since, "--since"));
    }
    if (options.until) {
      SKERRY_ASSIGN_OR_RETURN(wanted.until_, MomentOf(*options.until, "--until"));
    }
    return wanted;
  }

  [[nodiscard]] bool Has(std::string_view line) const {
    if (since_.empty() && until_.empty() && events_.empty() && !session_) return true;
    const Json record = json::Parse(line);
    const std::string at = TextIn(record, "at");
    if (at < since_ || (!until_.empty() && at >= until_)) return false;
    if (session_ && TextIn(record, "session_id") != *session_) return false;
    const std::string event = TextIn(record, "event");
    return events_.empty() || std::ranges::any_of(events_, [&](const std::string& name) {
             return name.ends_with('.') ? event.starts_with(name) : event == name;
           });
  }

 private:
  explicit Wanted(const AuditOptions& options) : events_(options.events), session_(options.session) {}

  std::string since_;
  std::string until_;
  std::vector<std::string> events_;
  std::optional<std::string> session_;
};

base::Result<int> Export(const Context& context, const AuditOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const Wanted wanted, Wanted::From(options));
  SKERRY_ASSIGN_OR_RETURN(const std::string path, DirectoryOf(context, options));
  StdoutSink sink;
  base::Status written;
  const auto write = [&](std::string_view line) {
    if (wanted.Has(line)) written = sink.Write(std::string(line) + "\n");
    return written.has_value();
  };
  SKERRY_ASSIGN_OR_RETURN(const watch::AuditReport report, watch::VerifyAudit(path, write));
  if (!written) return sink.ExitCode(written);
  for (const watch::AuditFault& fault : report.faults) Note("the audit is not whole: " + FaultText(fault));
  return report.faults.empty() ? 0 : kFaultsFound;
}

// An option of both commands.
Option PathOption(AuditOptions& options) {
  return {.names = "--path",
          .value = Value::Directory(),
          .description = "Directory of the audit; that of your daemon without",
          .to = &options.path};
}

Command VerifyCommand(const Context& context) {
  auto options = std::make_shared<AuditOptions>();
  return {.name = "verify",
          .description = "Find records that were changed, removed, moved or put in",
          .footer =
              "Exit code 0: the audit is whole. 1: there are faults, one line each. Whoever can write to its directory "
              "can make\n"
              "all of it anew: note the last hash, or export the records, on another machine.\n\n"
              "Examples:\n"
              "  skerry audit verify\n"
              "  skerry audit verify --path /backup/audit --json",
          .options = {PathOption(*options), {.names = "--json", .description = "As an object", .to = &options->json}},
          .action = [=, &context] { return Verify(context, *options); },
          .errors_as_json = &options->json};
}

Command ExportCommand(const Context& context) {
  auto options = std::make_shared<AuditOptions>();
  return {.name = "export",
          .description = "Print the records, one line of JSON each",
          .footer =
              "Lines go out as they were written, in order, so that their hashes can be checked elsewhere; what is no "
              "record is\n"
              "left out. All of it is checked meanwhile: faults are told on stderr, and the exit code is 1 when there "
              "are any.\n\n"
              "Examples:\n"
              "  skerry audit export > audit.jsonl\n"
              "  skerry audit export --since 2026-11-16 --event approval. --event token.created\n"
              "  skerry audit export --session analysis | jq -r .event",
          .options = {PathOption(*options),
                      {.names = "--since",
                       .value = Value::Text("TIME"),
                       .description = "Only what happened then or later, in UTC",
                       .to = &options->since},
                      {.names = "--until",
                       .value = Value::Text("TIME"),
                       .description = "Only what happened before, in UTC",
                       .to = &options->until},
                      {.names = "--event",
                       .value = Value::Text("NAME"),
                       .description = "Only these; one that ends in a dot is all that begin so",
                       .to = &options->events},
                      {.names = "--session",
                       .value = Value::Text("ID"),
                       .description = "Only what is about this session",
                       .to = &options->session},
                      {.names = "--json",
                       .description = "One object for each line; there is no other form",
                       .to = &options->json}},
          .action = [=, &context] { return Export(context, *options); },
          .errors_as_json = &options->json};
}

}  // namespace

Command AuditCommand(const Context& context) {
  return {.name = "audit",
          .description = "Prove what happened: the daemon's record of runs, decisions and tokens",
          .footer =
              "Reads the files of your daemon, which need not run.\n\n"
              "Examples:\n"
              "  skerry audit verify\n"
              "  skerry audit export --since 2026-11-16 > audit.jsonl",
          .commands = {VerifyCommand(context), ExportCommand(context)}};
}

}  // namespace skerry::cli
