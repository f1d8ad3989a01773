// Every method of every view: that it asks for its scope, that it finds nothing of another tenant, and that what
// changes something, or hands out what is in files, is in the audit.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "engine/views/access.hpp"
#include "engine/views/approvals_view.hpp"
#include "engine/views/contexts_view.hpp"
#include "engine/views/events_view.hpp"
#include "engine/views/files_view.hpp"
#include "engine/views/history_view.hpp"
#include "engine/views/run_attachment.hpp"
#include "engine/views/runs_view.hpp"
#include "engine/views/sessions_view.hpp"
#include "engine/views/system_view.hpp"
#include "engine/views/tokens_view.hpp"
#include "integration/host_fixture.hpp"

namespace skerry {
namespace {

using base::Code;
using base::Status;
using core::TokenScope;
using engine::Access;
using engine::Need;
using engine::Principal;
using engine::SessionHandle;
using std::chrono_literals::operator""s;

// What Alice has.
struct Scene {
  SessionHandle session;
  SessionHandle asking;  // a session in which something waits for a person
  std::shared_ptr<const engine::Run> run;
  std::shared_ptr<const engine::Run> command;  // that goes on, at a terminal
  std::string approval;
  std::string digest;
  std::string token;
  base::UniqueFd archive;
  std::uint64_t archive_size = 0;
};

enum class Names {
  kNothing,
  kAThing,  // that is kNotFound for another tenant
};

struct Method {
  std::string view;
  std::string name;
  Need need;
  Names names;
  std::string event;  // in the audit; "" for none
  std::function<Status(const Access& access, Scene& scene)> call;
};

template <class T>
Status Only(const base::Result<T>& result) {
  if (result) return {};
  return std::unexpected(result.error());
}

engine::NewRun Code(Scene& scene, std::string code) {
  return {.session = scene.session,
          .request = {.code = std::move(code), .language = core::Language::kShell},
          .consent = engine::Consent::kGiven};
}

// In an order in which Alice can do all of them.
std::vector<Method> Methods() {
  using engine::kToAdminister;
  using engine::kToApprove;
  using engine::kToFollow;
  using engine::kToMeasure;
  using engine::kToRead;
  using engine::kToRun;
  using enum Names;
  std::vector<Method> all;
  const auto add = [&all](const char* view) {
    return [&all, view](const char* name, Need need, Names names, const char* event, auto call) {
      all.push_back({view, name, need, names, event, std::move(call)});
    };
  };
  const auto sessions = add("SessionsView");
  sessions("Draft", kToRun, kNothing, "", [](auto& access, auto&) { return Only(access.sessions().Draft()); });
  sessions("Create", kToRun, kNothing, "session.created",
           [](auto& access, auto&) { return Only(access.sessions().Create({.name = "made"})); });
  sessions("FindOrCreate", kToRun, kNothing, "session.created",
           [](auto& access, auto&) { return Only(access.sessions().FindOrCreate({.name = "found"})); });
  sessions("Find", kToRead, kAThing, "", [](auto& access, auto&) { return Only(access.sessions().Find("one")); });
  sessions("List", kToRead, kNothing, "", [](auto& access, auto&) { return Only(access.sessions().List()); });
  sessions("Show", kToRead, kAThing, "",
           [](auto& access, auto& scene) { return Only(access.sessions().Show(scene.session)); });
  sessions("Usage", kToRead, kAThing, "",
           [](auto& access, auto& scene) { return Only(access.sessions().Usage(scene.session)); });
  sessions("Extend", kToRun, kAThing, "session.extended",
           [](auto& access, auto& scene) { return access.sessions().Extend(scene.session, 600s); });

  const auto files = add("FilesView");
  files("Write", kToRun, kAThing, "files.written", [](auto& access, auto& scene) {
    return Only(access.files(scene.session).Write("w", {.bytes = "one\n", .size = 4}, {}));
  });
  files("Append", kToRun, kAThing, "files.appended", [](auto& access, auto& scene) {
    return Only(access.files(scene.session).Append("w", {.bytes = "two\n", .size = 4}));
  });
  files("Edit", kToRun, kAThing, "files.edited", [](auto& access, auto& scene) {
    const std::vector<text::TextEdit> edits = {text::ReplaceText{.old_text = "two", .new_text = "three"}};
    return Only(access.files(scene.session).Edit({.path = "w", .edits = edits}));
  });
  files("MakeDirectory", kToRun, kAThing, "files.directory_made", [](auto& access, auto& scene) {
    return Only(access.files(scene.session).MakeDirectory("d", workspace::Parents::kMake));
  });
  files("Copy", kToRun, kAThing, "files.copied", [](auto& access, auto& scene) {
    return Only(access.files(scene.session).Copy("w", "d/w", workspace::Existing::kReplace));
  });
  files("Move", kToRun, kAThing, "files.moved", [](auto& access, auto& scene) {
    return Only(access.files(scene.session).Move("d/w", "d/v", workspace::Existing::kReplace));
  });
  files("List", kToRead, kAThing, "",
        [](auto& access, auto& scene) { return Only(access.files(scene.session).List("/", {})); });
  files("Stat", kToRead, kAThing, "",
        [](auto& access, auto& scene) { return Only(access.files(scene.session).Stat("w")); });
  files("Usage", kToRead, kAThing, "",
        [](auto& access, auto& scene) { return Only(access.files(scene.session).Usage()); });
  files("Read", kToRead, kAThing, "files.exported", [](auto& access, auto& scene) {
    const auto all = [](std::uint64_t size) { return engine::FilePart{.length = size}; };
    return Only(access.files(scene.session).Read("w", all));
  });
  files("ReadLines", kToRead, kAThing, "files.exported",
        [](auto& access, auto& scene) { return Only(access.files(scene.session).ReadLines("w", {}, 1000)); });
  files("Search", kToRead, kAThing, "files.exported", [](auto& access, auto& scene) {
    const auto weigh = [](const workspace::SearchResult& result) -> std::uint64_t { return result.matches.size(); };
    return Only(access.files(scene.session).Search({.path = "/", .pattern = "one"}, weigh, {}));
  });
  files("Export", kToRead, kAThing, "files.exported", [](auto& access, auto& scene) -> Status {
    auto exported = access.files(scene.session).Export("d", archive::ArchiveFormat::kTar, {});
    if (!exported) return std::unexpected(exported.error());
    scene.archive = std::move(exported->file);
    scene.archive_size = exported->size;
    return {};
  });
  files("Import", kToRun, kAThing, "files.imported", [](auto& access, auto& scene) {
    return Only(
        access.files(scene.session)
            .Import({.bytes = "", .file = scene.archive.get(), .size = scene.archive_size}, {.directory = "i"}));
  });
  files("Delete", kToRun, kAThing, "files.deleted", [](auto& access, auto& scene) {
    return Only(access.files(scene.session).Delete("d", workspace::Depth::kAll));
  });

  const auto contexts = add("ContextsView");
  contexts("Create", kToRun, kAThing, "context.created", [](auto& access, auto& scene) {
    return Only(access.contexts(scene.session).Create("c", core::Language::kPython));
  });
  contexts("List", kToRead, kAThing, "",
           [](auto& access, auto& scene) { return Only(access.contexts(scene.session).List()); });
  contexts("Find", kToRead, kAThing, "",
           [](auto& access, auto& scene) { return Only(access.contexts(scene.session).Find("c")); });
  contexts("Fork", kToRun, kAThing, "context.forked",
           [](auto& access, auto& scene) { return Only(access.contexts(scene.session).Fork("c", "d")); });
  contexts("Interrupt", kToRun, kAThing, "context.interrupted",
           [](auto& access, auto& scene) { return Only(access.contexts(scene.session).Interrupt("c")); });
  contexts("Restart", kToRun, kAThing, "context.restarted",
           [](auto& access, auto& scene) { return Only(access.contexts(scene.session).Restart("c")); });
  contexts("Remove", kToRun, kAThing, "context.deleted",
           [](auto& access, auto& scene) { return access.contexts(scene.session).Remove("c"); });

  const auto runs = add("RunsView");
  runs("Draft", kToRun, kAThing, "",
       [](auto& access, auto& scene) { return Only(access.runs().Draft(engine::RunKind::kCode, scene.session)); });
  runs("Begin", kToRun, kAThing, "run.began", [](auto& access, auto& scene) {
    return Only(access.runs().Begin(Code(scene, "echo 1 > g"), engine::Place::kHere));
  });
  runs("Find", kToRead, kAThing, "",
       [](auto& access, auto& scene) { return Only(access.runs().Find(scene.run->id())); });
  runs("FindCommand", kToRead, kAThing, "",
       [](auto& access, auto& scene) { return Only(access.runs().FindCommand(scene.session, scene.command->id())); });
  runs("List", kToRead, kNothing, "", [](auto& access, auto&) { return Only(access.runs().List({})); });
  runs("QuestionOf", kToRead, kAThing, "",
       [](auto& access, auto& scene) { return Only(access.runs().QuestionOf(*scene.run)); });
  runs("Changes", kToRead, kAThing, "",
       [](auto& access, auto& scene) { return Only(access.runs().Changes(*scene.run, 0, 10)); });
  runs("Notices", kToRead, kAThing, "", [](auto& access, auto& scene) {
    return Only(access.runs().Notices(*scene.run, core::FileNotice::About::kWithheld, 0, 10));
  });
  runs("Feed", kToRun, kAThing, "run.fed",
       [](auto& access, auto& scene) { return access.runs().Feed(scene.command->id(), "hello\n", std::nullopt); });
  runs("Resize", kToRun, kAThing, "", [](auto& access, auto& scene) {
    return access.runs().Resize(scene.command->id(), {.rows = 10, .columns = 20});
  });
  runs("Attach", kToRun, kAThing, "run.attached",
       [](auto& access, auto& scene) { return Only(access.runs().Attach(scene.command->id(), 0, std::nullopt)); });
  runs("Signal", kToRun, kAThing, "run.signalled",
       [](auto& access, auto& scene) { return access.runs().Signal(scene.command->id(), SIGCONT); });
  runs("Cancel", kToRun, kAThing, "run.cancelled",
       [](auto& access, auto& scene) { return Only(access.runs().Cancel(scene.command->id())); });

  const auto history = add("HistoryView");
  history("Records", kToRead, kAThing, "", [](auto& access, auto&) { return Only(access.history().Records("one")); });
  history("Page", kToRead, kAThing, "", [](auto& access, auto&) { return Only(access.history().Page("one", {})); });
  history("Outline", kToRead, kAThing, "",
          [](auto& access, auto&) { return Only(access.history().Outline("one", {})); });
  history("OfFile", kToRead, kAThing, "",
          [](auto& access, auto&) { return Only(access.history().OfFile("one", "w")); });

  const auto approvals = add("ApprovalsView");
  approvals("Waiting", kToApprove, kNothing, "",
            [](auto& access, auto&) { return Only(access.approvals().Waiting(std::nullopt, 100)); });
  approvals("Past", kToApprove, kNothing, "", [](auto& access, auto&) { return Only(access.approvals().Past({})); });
  approvals("Find", kToApprove, kAThing, "",
            [](auto& access, auto& scene) { return Only(access.approvals().Find(scene.approval)); });
  approvals("Decide", kToApprove, kAThing, "approval.decided", [](auto& access, auto& scene) {
    return access.approvals().Decide({.approval = scene.approval, .digest = scene.digest});
  });

  const auto tokens = add("TokensView");
  tokens("Issue", kToAdminister, kNothing, "token.created", [](auto& access, auto& scene) -> Status {
    auto issued = access.tokens().Issue({.name = "n", .scopes = {TokenScope::kRead}});
    if (!issued) return std::unexpected(issued.error());
    scene.token = issued->record.id;
    return {};
  });
  tokens("List", kToAdminister, kNothing, "", [](auto& access, auto&) { return Only(access.tokens().List()); });
  tokens("Revoke", kToAdminister, kNothing, "token.revoked",
         [](auto& access, auto& scene) { return access.tokens().Revoke(scene.token); });

  const auto events = add("EventsView");
  events("Follow", kToFollow, kAThing, "", [](auto& access, auto&) {
    return Only(access.events().Follow({.session = "one", .types = {}, .after = std::nullopt}));
  });

  const auto system = add("SystemView");
  system("Assess", kToRead, kNothing, "",
         [](auto& access, auto&) { return Only(access.system().Assess(core::Language::kShell, "true", {})); });
  system("AssessAgainIn", kToRead, kNothing, "",
         [](auto& access, auto&) { return Only(access.system().AssessAgainIn()); });
  system("Pool", kToRead, kNothing, "", [](auto& access, auto&) { return Only(access.system().Pool()); });
  system("Sandboxes", kToRead, kNothing, "", [](auto& access, auto&) { return Only(access.system().Sandboxes(1)); });
  system("Metrics", kToRead, kAThing, "",
         [](auto& access, auto& scene) { return Only(access.system().Metrics(scene.session, std::nullopt)); });
  system("Figures", kToMeasure, kNothing, "", [](auto& access, auto&) { return Only(access.system().Figures()); });

  sessions("Pause", kToRun, kAThing, "session.paused",
           [](auto& access, auto& scene) { return access.sessions().Pause(scene.session); });
  sessions("Resume", kToRun, kAThing, "session.resumed",
           [](auto& access, auto& scene) { return access.sessions().Resume(scene.session); });
  sessions("Diff", kToRead, kAThing, "files.exported",
           [](auto& access, auto& scene) { return Only(access.sessions().Diff(scene.session)); });
  sessions("Check", kToRead, kAThing, "",
           [](auto& access, auto& scene) { return Only(access.sessions().Check(scene.session, {})); });
  sessions("Stop", kToRun, kAThing, "session.stopped",
           [](auto& access, auto& scene) { return access.sessions().Stop(scene.session); });
  sessions("Undo", kToRun, kAThing, "files.undone", [](auto& access, auto& scene) {
    return Only(access.sessions().Undo(scene.session, workspace::LaterWork::kGoes));
  });
  sessions("Delete", kToRun, kAThing, "session.deleted",
           [](auto& access, auto& scene) { return access.sessions().Delete(scene.session); });
  return all;
}

// "View Method" of every public method that the headers declare.
std::set<std::string> Declared() {
  std::set<std::string> found;
  const std::regex comment("//[^\n]*");
  const std::regex view(R"(class (\w+View) : public View \{([\s\S]*?)\n( private:|\};))");
  const std::regex body(R"(\{\})");  // of a constructor
  const std::regex method(R"((\w+)\()");
  const std::regex other(R"(^\s*(public:|using|struct|enum|friend|explicit|static constexpr|\}|$))");
  for (const auto& entry : std::filesystem::directory_iterator(SKERRY_VIEWS)) {
    if (!entry.path().filename().string().ends_with("_view.hpp")) continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const std::string code = std::regex_replace(text.str(), comment, "");
    std::smatch header;
    if (!std::regex_search(code, header, view)) {
      ADD_FAILURE() << entry.path() << " has no view that this test can read";
      continue;
    }
    const std::string name = header[1];
    std::istringstream declarations(std::regex_replace(header[2].str(), body, ";"));
    for (std::string declaration; std::getline(declarations, declaration, ';');) {
      if (const auto label = declaration.find("public:"); label != std::string::npos) declaration.erase(0, label + 7);
      std::smatch called;
      if (std::regex_search(declaration, other, std::regex_constants::match_continuous)) continue;
      if (std::regex_search(declaration, called, method) && called[1] != name)
        found.insert(name + " " + called[1].str());
    }
  }
  return found;
}

class ViewsTest : public HostTest {
 protected:
  // Who has every scope but that of everybody's things.
  const Principal kMallory{.id = "mallory",
                           .tenant = "m",
                           .scopes = {TokenScope::kRead, TokenScope::kRun, TokenScope::kApprove, TokenScope::kMetrics},
                           .owner = true};
  const Principal kAliceWithAll{
      .id = "alice", .tenant = "a", .scopes = {TokenScope::kAdmin}, .owner = true, .request = "req1", .from = "here"};

  Access As(Principal principal) { return {TheHost(), std::move(principal)}; }

  Scene Prepare() {
    const Access alice = As(kAliceWithAll);
    const auto made = alice.sessions().Create({.name = "one"}).value();
    const auto asking = alice.sessions().Create({.name = "asking"}).value();
    Scene scene{.session = made.session, .asking = asking.session};
    EXPECT_TRUE(alice.files(scene.asking).MakeDirectory("temp", workspace::Parents::kMake));
    engine::NewRun first = Code(scene, "echo 1 > f");
    scene.run = alice.runs().Begin(first, engine::Place::kHere).value().run;
    engine::NewRun command = Code(scene, "cat");
    command.kind = engine::RunKind::kCommand;
    command.input = engine::Input::kPipe;
    command.terminal = core::TerminalSize{.rows = 5, .columns = 80};
    scene.command = alice.runs().Begin(command, engine::Place::kBeside).value().run;
    engine::NewRun risky = Code(scene, "chmod 777 data; rm -rf temp");
    risky.session = scene.asking;
    risky.consent = engine::Consent::kAsk;
    const auto waiting = alice.runs().Begin(risky, engine::Place::kBeside).value().run;
    EXPECT_TRUE(Eventually([&] {
      const auto question = alice.runs().QuestionOf(*waiting).value();
      if (question) std::tie(scene.approval, scene.digest) = std::pair(question->approval, question->digest);
      return question.has_value() && scene.command->state() == core::RunState::kRunning;
    }));
    return scene;
  }

  [[nodiscard]] std::vector<nlohmann::json> Audit() const {
    std::vector<nlohmann::json> records;
    std::set<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(home_ / "state" / "audit"))
      if (entry.path().extension() == ".jsonl") paths.insert(entry.path());
    for (const auto& path : paths) {
      std::ifstream file(path);
      for (std::string line; std::getline(file, line);) records.push_back(nlohmann::json::parse(line));
    }
    return records;
  }
  [[nodiscard]] std::size_t CountOf(const std::string& event, const std::string& by) const {
    return static_cast<std::size_t>(std::ranges::count_if(Audit(), [&](const nlohmann::json& record) {
      return record.value("event", "") == event && record.contains("by") && record["by"] == by;
    }));
  }
};

TEST_F(ViewsTest, TheWalkHasEveryMethodOfEveryView) {
  std::set<std::string> walked;
  for (const Method& method : Methods()) EXPECT_TRUE(walked.insert(method.view + " " + method.name).second);
  EXPECT_EQ(walked, Declared());
  EXPECT_GT(walked.size(), 60U);
}

TEST_F(ViewsTest, WhoLacksTheScopeIsRefusedByEveryMethod) {
  Scene scene = Prepare();
  const std::size_t recorded = Audit().size();
  for (const TokenScope scope :
       {TokenScope::kRead, TokenScope::kRun, TokenScope::kApprove, TokenScope::kAdmin, TokenScope::kMetrics})
    for (const Method& method : Methods())
      for (const engine::Scopes scopes : {engine::Scopes(), engine::Scopes({scope})}) {
        if (scopes.May(method.need)) continue;
        Principal principal = kAliceWithAll;
        principal.scopes = scopes;
        const Status done = method.call(As(principal), scene);
        EXPECT_TRUE(!done && done.error().code == Code::kPermissionDenied)
            << method.view << "::" << method.name << " with " << core::NameOf(scope) << ": "
            << (done ? "done" : done.error().message);
      }
  EXPECT_EQ(Audit().size(), recorded) << "what was refused is not in the audit";
}

TEST_F(ViewsTest, WhatIsAnotherTenantsIsNotThere) {
  Scene scene = Prepare();
  const Access mallory = As(kMallory);
  for (const Method& method : Methods()) {
    if (method.names == Names::kNothing) continue;
    const Status done = method.call(mallory, scene);
    EXPECT_TRUE(!done && done.error().code == Code::kNotFound)
        << method.view << "::" << method.name << ": " << (done ? "done" : done.error().message);
  }
  EXPECT_TRUE(mallory.sessions().List()->empty());
  EXPECT_TRUE(mallory.runs().List({.tenant = "a"})->empty());
  EXPECT_TRUE(mallory.approvals().Waiting(std::nullopt, 100)->empty());
  EXPECT_TRUE(mallory.approvals().Past({.tenant = "a"})->empty());
  EXPECT_TRUE(mallory.system().Sandboxes(1)->empty());
  for (const nlohmann::json& record : Audit()) EXPECT_NE(record.value("by", nlohmann::json()), "mallory") << record;
}

TEST_F(ViewsTest, WhatChangesSomethingOrHandsItOutIsInTheAudit) {
  Scene scene = Prepare();
  const Access alice = As(kAliceWithAll);
  for (const Method& method : Methods()) {
    const std::size_t before = method.event.empty() ? Audit().size() : CountOf(method.event, "alice");
    const Status done = method.call(alice, scene);
    EXPECT_TRUE(done) << method.view << "::" << method.name << ": " << (done ? "" : done.error().message);
    if (method.event.empty()) continue;
    // An answer to a question is recorded by the run that waits for it.
    EXPECT_TRUE(Eventually([&] { return CountOf(method.event, "alice") == before + 1; }))
        << method.view << "::" << method.name;
  }
  EXPECT_EQ(CountOf("request.failed", "alice"), 0U);
}

TEST_F(ViewsTest, WhatFailsIsRecordedBeforeAndBehind) {
  const Scene scene = Prepare();
  const Access alice = As(kAliceWithAll);
  EXPECT_FALSE(alice.files(scene.session).Delete("none", std::nullopt));
  const auto records = Audit();
  ASSERT_GE(records.size(), 2U);
  EXPECT_EQ(records[records.size() - 2]["event"], "files.deleted");
  EXPECT_EQ(records.back()["event"], "request.failed");
  EXPECT_EQ(records.back()["what"], "files.deleted");
  EXPECT_EQ(records.back()["status"], 404);
  EXPECT_EQ(records.back()["request_id"], "req1");
}

TEST_F(ViewsTest, OfManyWhoFindOrCreateASessionOneMakesIt) {
  const Access alice = As(kAliceWithAll);
  std::atomic<int> made = 0;
  std::atomic<int> failed = 0;
  {
    std::vector<std::jthread> threads;
    threads.reserve(8);
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        const auto session = alice.sessions().FindOrCreate({.name = "one"});
        if (!session) ++failed;
        if (session && !session->replayed) ++made;
      });
  }
  EXPECT_EQ(made, 1);
  EXPECT_EQ(failed, 0);
  // A session of another tenant is not found by that: not even by who may see all.
  const auto other =
      As({.id = "root", .tenant = "z", .scopes = {TokenScope::kAdmin}}).sessions().FindOrCreate({.name = "one"});
  ASSERT_TRUE(other.has_value());
  EXPECT_FALSE(other->replayed);
}

// --- ceilings

TEST_F(ViewsTest, WhoMayNotApproveGivesNoConsent) {
  Principal runner = kAlice;
  runner.scopes = {TokenScope::kRun};
  const Access access = As(runner);
  engine::NewRun run{.request = {.code = "true", .language = core::Language::kShell},
                     .consent = engine::Consent::kGiven};
  EXPECT_EQ(access.runs().Begin(run, engine::Place::kHere).error().code, Code::kPermissionDenied);
}

TEST_F(ViewsTest, NobodyGetsMoreThanTheConfigurationGives) {
  Principal runner = kAlice;
  runner.scopes = {TokenScope::kRun};
  const Access access = As(runner);
  engine::NewSession wanted = access.sessions().Draft().value();
  wanted.settings.limits.memory_mb += 1;
  EXPECT_EQ(access.sessions().Create(wanted).error().code, Code::kInvalidArgument);
  engine::NewRun run = access.runs().Draft(engine::RunKind::kCode, std::nullopt).value();
  run.request.code = "1";
  run.request.max_memory_mb += 1;
  EXPECT_THAT(access.runs().Begin(run, engine::Place::kHere).error().message,
              testing::HasSubstr("max_memory_mb is at most"));
}

TEST_F(ViewsTest, AClaimIsOfThePrincipalsTenant) {
  Principal runner = kAlice;
  runner.scopes = {TokenScope::kRun};
  const engine::NewSession wanted{.name = "claimed",
                                  .claim = core::IdempotencyClaim{.tenant = "b", .key = "k", .request_sha256 = "1"}};
  ASSERT_TRUE(As(runner).sessions().Create(wanted));
  EXPECT_TRUE(TheHost().options().store->FindClaim("a", "k"));
  EXPECT_FALSE(TheHost().options().store->FindClaim("b", "k"));
}

// --- what readers see

TEST_F(ViewsTest, AReaderSeesTheNamesOfVariablesAndNotTheirValues) {
  engine::SessionSettings settings;
  settings.environment = {{"KEY", "secret"}};
  const Access alice = As(kAliceWithAll);
  const auto made = alice.sessions().Create({.name = "one", .settings = settings}).value();
  Principal reader = kAlice;
  reader.scopes = {TokenScope::kRead};
  const engine::ShownSession shown = As(reader).sessions().Show(made.session).value();
  EXPECT_EQ(shown.environment.at("KEY"), std::nullopt);
  EXPECT_TRUE(shown.settings.environment.empty());
  EXPECT_EQ(alice.sessions().Show(made.session)->environment.at("KEY"), "secret");
}

TEST_F(ViewsTest, WhoMayOnlyApproveHearsOfApprovalsOnly) {
  Principal approver = kAlice;
  approver.scopes = {TokenScope::kApprove};
  const Access access = As(approver);
  EXPECT_EQ(access.events().Follow({.session = {}, .types = {"session."}, .after = {}}).error().code,
            Code::kPermissionDenied);
  const auto feed = access.events().Follow({});
  ASSERT_TRUE(feed);
  const auto reader = feed->Open([] {});
  ASSERT_TRUE(As(kAliceWithAll).sessions().Create({.name = "one"}));
  EXPECT_TRUE(reader->Next(1000).events.empty());
}

}  // namespace
}  // namespace skerry
