#include "bench/baselines.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/candidate.hpp"
#include "bench/command.hpp"
#include "bench/workloads.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::bench {
namespace {

using ::testing::HasSubstr;

// Sets an environment variable of this process for the length of a test.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* const before = ::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

void WriteFile(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

std::string ReadWhole(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::optional<std::string> Installed(const std::string& path) {
  return ::access(path.c_str(), X_OK) == 0 ? std::optional(path) : std::nullopt;
}

const Subject* Find(const Baselines& baselines, std::string_view group, std::string_view name) {
  for (const Subject& subject : baselines.subjects)
    if (subject.group == group && subject.name == name) return &subject;
  return nullptr;
}

std::string ReasonOf(const Baselines& baselines, std::string_view group, std::string_view name) {
  for (const LeftOut& row : baselines.left_out)
    if (row.group == group && row.name == name) return row.reason;
  return "";
}

TEST(CandidateTest, OneThatAnswersWrongIsLeftOut) {
  Baselines baselines;
  AddCandidate(baselines, {"shell", "bad", {{"/bin/sh", "-c", "echo 2"}, PlainEnvironment()}});
  AddCandidate(baselines, {"shell", "good", {{"/bin/sh", "-c", "echo 1"}, PlainEnvironment()}});
  EXPECT_THAT(ReasonOf(baselines, "shell", "bad"), HasSubstr("instead of"));
  ASSERT_EQ(baselines.subjects.size(), 1U);
  EXPECT_TRUE(baselines.subjects[0].run());
}

// A fake docker that runs everything on the host and writes down its arguments.
class FakeDockerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteFile(directory_.path() / "docker", R"(#!/bin/sh
echo "$*" >> ')" + Log().string() + R"('
case $1 in
  version) exit ${FAKE_DOCKER_VERSION_EXIT:-0} ;;
  import) exec tar --list > /dev/null ;;
  run) [ "$2" = --detach ] && exit 0; shift 5; exec "$@" ;;
  exec) shift 2; exec "$@" ;;
esac
)");
  }

  [[nodiscard]] std::filesystem::path Log() const { return directory_.path() / "log"; }

  support::TemporaryDirectory directory_;
  ScopedVariable path_{"PATH", directory_.path().string() + ":/usr/local/bin:/usr/bin:/bin"};
};

TEST_F(FakeDockerTest, GivesRunAndExecAndRemovesWhatItMade) {
  const std::string name = "skerry-bench-" + std::to_string(::getpid());
  {
    Baselines baselines;
    AddDockerBaselines(baselines, {});
    ASSERT_NE(Find(baselines, "cold", "docker run"), nullptr) << ReasonOf(baselines, "cold", "docker run");
    ASSERT_NE(Find(baselines, "shell", "docker exec"), nullptr) << ReasonOf(baselines, "shell", "docker exec");
    EXPECT_TRUE(Find(baselines, "cold", "docker run")->run());
    const Subject hundred = *Find(baselines, "hundred", "docker run");
    baselines = {};
    EXPECT_THAT(ReadWhole(Log()), ::testing::Not(HasSubstr("rm --force"))) << "a copy of a subject keeps the place";
    const auto sample = hundred.run();
    EXPECT_TRUE(sample) << sample.error().message;
  }
  const std::string log = ReadWhole(Log());
  EXPECT_THAT(log, HasSubstr("import - " + name + "\n"));
  EXPECT_THAT(log, HasSubstr("exec " + name + " /bin/sh -c echo 1\n"));
  EXPECT_THAT(log, ::testing::EndsWith("rm --force " + name + "\nimage rm --force " + name + "\n"));
}

TEST_F(FakeDockerTest, AnEngineThatDoesNotAnswerIsAReason) {
  const ScopedVariable fails("FAKE_DOCKER_VERSION_EXIT", "1");
  Baselines baselines;
  AddDockerBaselines(baselines, {});
  EXPECT_TRUE(baselines.subjects.empty());
  EXPECT_EQ(ReasonOf(baselines, "hundred", "docker run"), "docker: no engine answers");
  EXPECT_EQ(ReasonOf(baselines, "shell", "docker exec"), "docker: no engine answers");
  EXPECT_THAT(ReadWhole(Log()), ::testing::Not(HasSubstr("import")));
}

// The two Python packages that the client uses, with a kernel that knows one answer.
constexpr const char* kFakeManager = R"python(
import os
class Client:
    def __init__(self):
        self.count, self.queue = 0, []
    def execute(self, code):
        self.count += 1
        header = {"msg_id": self.count}
        def say(kind, **content):
            self.queue.append({"msg_type": kind, "parent_header": header, "content": content})
        idle = {"execution_state": "idle"}
        self.queue.append({"msg_type": "status", "parent_header": {"msg_id": 0}, "content": idle})
        say("status", execution_state="busy")
        say("execute_result", data={"text/plain": os.environ["FAKE_KERNEL_ANSWER"]})
        say("status", execution_state="idle")
        return self.count
    def get_iopub_msg(self, timeout):
        return self.queue.pop(0)
    def get_shell_msg(self, timeout):
        return {"msg_type": "execute_reply", "parent_header": {"msg_id": self.count}, "content": {}}
    def stop_channels(self):
        pass
class Manager:
    def shutdown_kernel(self, now):
        open(os.environ["FAKE_KERNEL_ENDED"], "w").close()
def start_new_kernel(startup_timeout):
    return Manager(), Client()
)python";

class FakeKernelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!python_) GTEST_SKIP() << "needs /usr/bin/python3";
    WriteFile(directory_.path() / "ipykernel/__init__.py", "");
    WriteFile(directory_.path() / "jupyter_client/__init__.py", "");
    WriteFile(directory_.path() / "jupyter_client/manager.py", kFakeManager);
  }

  std::optional<std::string> python_ = Installed("/usr/bin/python3");
  support::TemporaryDirectory directory_;
  std::string ended_ = directory_.path() / "ended";
  ScopedVariable modules_{"PYTHONPATH", directory_.path().string()};
  ScopedVariable ended_variable_{"FAKE_KERNEL_ENDED", ended_};
};

TEST_F(FakeKernelTest, RunsCellAfterCellAndEndsTheKernel) {
  const ScopedVariable answer("FAKE_KERNEL_ANSWER", "2");
  {
    Baselines baselines;
    AddIpykernelBaseline(baselines, {.python = python_});
    ASSERT_EQ(baselines.subjects.size(), 1U) << ReasonOf(baselines, "cell", "ipykernel");
    for (int i = 0; i < 3; ++i) {
      const auto sample = baselines.subjects[0].run();
      ASSERT_TRUE(sample) << sample.error().message;
      EXPECT_GT(sample->total, Duration{});
    }
    EXPECT_NE(::access(ended_.c_str(), F_OK), 0);
  }
  EXPECT_EQ(::access(ended_.c_str(), F_OK), 0);
}

TEST_F(FakeKernelTest, AWrongValueIsAReason) {
  const ScopedVariable answer("FAKE_KERNEL_ANSWER", "3");
  Baselines baselines;
  AddIpykernelBaseline(baselines, {.python = python_});
  EXPECT_TRUE(baselines.subjects.empty());
  EXPECT_THAT(ReasonOf(baselines, "cell", "ipykernel"), HasSubstr("the kernel answered '"));
}

// With everything that is really installed.
TEST(BaselinesTest, EveryOneThatIsHereAnswersInTurns) {
  const Interpreters interpreters{Installed("/usr/bin/python3"), Installed("/usr/bin/node"),
                                  Installed("/usr/bin/bash")};
  Baselines baselines = FindBaselines(interpreters);
  std::erase_if(baselines.subjects, [](const Subject& subject) { return subject.group == "hundred"; });
  ASSERT_NE(Find(baselines, "shell", "bare sh"), nullptr) << "a machine without /bin/sh";
  for (const LeftOut& row : baselines.left_out) {
    EXPECT_FALSE(row.reason.empty()) << row.name;
    std::cout << "left out: " << row.group << " " << row.name << ": " << row.reason << "\n";
  }
  const auto results = RunInterleaved(Grouped(baselines.subjects, baselines.left_out), {.rounds = 3, .warmups = 0},
                                      nullptr, std::stop_token());
  for (const GroupResult& group : results) {
    for (const SubjectResult& subject : group.subjects) {
      if (!subject.skipped.empty()) continue;
      EXPECT_EQ(subject.failures, 0U) << group.name << " " << subject.name << ": " << subject.failed;
      EXPECT_GT(subject.samples.P50(), Duration{}) << group.name << " " << subject.name;
    }
  }
}

TEST(BaselinesTest, AnInterpreterThatIsMissingIsAReason) {
  const Baselines baselines = FindBaselines({});
  EXPECT_EQ(ReasonOf(baselines, "python", "bare"), "the interpreter is not installed");
  EXPECT_EQ(ReasonOf(baselines, "node", "bare"), "the interpreter is not installed");
}

}  // namespace
}  // namespace skerry::bench
