#include "policy/git_config.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skerry::policy {
namespace {

using std::string_view_literals::operator""sv;
using testing::ElementsAre;
using testing::IsEmpty;
using Entries = std::vector<GitConfigEntry>;

struct ParseCase {
  std::string_view text;
  Entries entries;
};

std::vector<std::string> KeysOfNew(std::string_view text) {
  return ProgramStartingKeys(text, "");
}

TEST(GitConfigTest, ReadsWhatGitReads) {
  const std::vector<ParseCase> cases = {
      {"", {}},
      {"# a\n; b\n\n \t\n", {}},
      {"[core]\n\tbare = false\n", {{"core.bare", "false"}}},
      {"[core]\nbare", {{"core.bare", std::nullopt}}},
      {"[core]\nbare =", {{"core.bare", ""}}},
      {"[core] bare = 1 # one\n", {{"core.bare", "1"}}},
      {"[CoRe]\nBaRe=X", {{"core.bare", "X"}}},
      {"[remote \"Or\\\"i\\\\g.in\"]\nurl = a", {{"remote.Or\"i\\g.in.url", "a"}}},
      {"[remote   \"a\"]\nurl = a", {{"remote.a.url", "a"}}},
      {"[Remote.Origin]\nurl = a", {{"remote.origin.url", "a"}}},
      {"[core \"\"]\nbare = 1", {{"core..bare", "1"}}},
      {"\xEF\xBB\xBF[core]\r\nbare = 1\r\neol = lf\r\n", {{"core.bare", "1"}, {"core.eol", "lf"}}},
      {"[a]\nb = x \\\n y\\\r\nz", {{"a.b", "x  yz"}}},
      {"[a]\nb = \" x # y \" ; z", {{"a.b", " x # y "}}},
      {"[a]\nb = x \"y\" z  ", {{"a.b", "x y z"}}},
      {"[a]\nb = 1\\t2\\n3\\\\4\\\"5\\b6", {{"a.b", "1\t2\n3\\4\"5\b6"}}},
      {"[a]\nb = x#y\\\nc = 2", {{"a.b", "x"}, {"a.c", "2"}}},
      {"[a]b=1\n[a]b=2\n", {{"a.b", "1"}, {"a.b", "2"}}},
      {"[a][c]b=1", {{"c.b", "1"}}},
      {"[a]\nb = gr\xFC\xDF", {{"a.b", "gr\xFC\xDF"}}},
  };
  for (const auto& [text, entries] : cases) {
    const auto parsed = ParseGitConfig(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(*parsed, entries) << text;
  }
}

TEST(GitConfigTest, GuessesNothing) {
  const std::string long_line = "[a]\nb = " + std::string(1000, ' ') + "[core]\n";
  for (const std::string_view text : {"bare = 1"sv,
                                      "[core"sv,
                                      "[core\n]"sv,
                                      "[]\na=1"sv,
                                      "[co_re]\na=1"sv,
                                      "[core x]"sv,
                                      "[core \"x]\n"sv,
                                      "[core \"x\" ]"sv,
                                      "[core \"x\\\n\"]"sv,
                                      "[core \"x\ny\"]"sv,
                                      "[a]\n1b = 2"sv,
                                      "[a]\nb c = 2"sv,
                                      "[a]\nb_c = 2"sv,
                                      "[a]\nb # c"sv,
                                      "[a]\n= 2"sv,
                                      "[a]\nb = \"x"sv,
                                      "[a]\nb = \"x\ny\""sv,
                                      "[a]\nb = \\x"sv,
                                      "[a]\nb = x\\"sv,
                                      "[a]\nb = x\\\n"sv,
                                      "[a]\nb = x\0y"sv,
                                      "[a]\rb = x"sv,
                                      "[a]\nb = x\ry"sv,
                                      "[a]\nb = x\x1b"sv,
                                      "[a]\nb = x\x7f"sv,
                                      "[a]\n\vb = x"sv,
                                      "\xEF\xBB\xBF\xEF\xBB\xBF[a]"sv,
                                      "]"sv,
                                      "ref: refs/heads/main\n"sv,
                                      std::string_view(long_line)}) {
    EXPECT_FALSE(ParseGitConfig(text)) << testing::PrintToString(std::string(text));
    EXPECT_THAT(KeysOfNew(text), ElementsAre(kNotUnderstood)) << testing::PrintToString(std::string(text));
  }
}

TEST(ProgramStartingKeysTest, OrdinaryRepositoryHasNone) {
  EXPECT_THAT(KeysOfNew("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
                        "\tlogallrefupdates = true\n\tignorecase = true\n\tprecomposeunicode = true\n"
                        "[remote \"origin\"]\n\turl = https://example.org/a/b.git\n"
                        "\tfetch = +refs/heads/*:refs/remotes/origin/*\n\ttagOpt = --no-tags\n"
                        "[branch \"feature/x\"]\n\tremote = origin\n\tmerge = refs/heads/feature/x\n\trebase = true\n"
                        "[branch \"local\"]\n\tremote = .\n"
                        "[user]\n\tname = A B\n\temail = a@example.org\n"
                        "[submodule \"lib/x\"]\n\tactive = true\n\turl = ../x.git\n"
                        "[pull]\n\trebase = true\n[push]\n\tautoSetupRemote = true\n[init]\n\tdefaultBranch = main\n"
                        "[merge]\n\tconflictStyle = zdiff3\n[extensions]\n\tobjectFormat = sha256\n[gc]\n\tauto = 0\n"
                        "[color \"diff\"]\n\tmeta = yellow\n[advice]\n\tdetachedHead = false\n[fetch]\n\tprune = true\n"
                        "[lfs]\n\trepositoryformatversion = 0\n[rebase]\n\tautoStash = true\n"),
              IsEmpty());
}

TEST(ProgramStartingKeysTest, NamesWhatStartsAProgram) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"[core]\nfsmonitor = x", "core.fsmonitor"},
      {"[core]\nfsmonitor", "core.fsmonitor"},
      {"[CORE]\nHooksPath = x", "core.hookspath"},
      {"[core]\nbare = false\n[core]sshCommand = x", "core.sshcommand"},
      {"[core]\nsshCommand = \\\nx", "core.sshcommand"},
      {"[core]\neditor = x", "core.editor"},
      {"[core]\npager = x", "core.pager"},
      {"[core]\naskPass = x", "core.askpass"},
      {"[core]\ngitProxy = x", "core.gitproxy"},
      {"[core]\nworktree = ../x", "core.worktree"},
      {"[core]\nattributesFile = x", "core.attributesfile"},
      {"[core]\nexcludesFile = x", "core.excludesfile"},
      {"[core]\nalternateRefsCommand = x", "core.alternaterefscommand"},
      {"[core]\nprotectNTFS = false", "core.protectntfs"},
      {"[core \"\"]\nbare = false", "core..bare"},
      {"[core \"x\"]\nbare = false", "core.x.bare"},
      {"[include]\npath = x", "include.path"},
      {"[includeIf \"gitdir:/\"]\npath = x", "includeif.gitdir:/.path"},
      {"[alias]\nst = !x", "alias.st"},
      {"[filter \"a\"]\nclean = x", "filter.a.clean"},
      {"[filter.a]\nsmudge = x", "filter.a.smudge"},
      {"[diff]\nexternal = x", "diff.external"},
      {"[diff \"a\"]\ncommand = x", "diff.a.command"},
      {"[diff \"a\"]\ntextconv = x", "diff.a.textconv"},
      {"[merge \"a\"]\ndriver = x", "merge.a.driver"},
      {"[credential]\nhelper = x", "credential.helper"},
      {"[credential \"https://x\"]\nhelper = x", "credential.https://x.helper"},
      {"[gpg]\nprogram = x", "gpg.program"},
      {"[gpg \"ssh\"]\nprogram = x", "gpg.ssh.program"},
      {"[url \"ext::x\"]\ninsteadOf = https://", "url.ext::x.insteadof"},
      {"[protocol \"ext\"]\nallow = always", "protocol.ext.allow"},
      {"[submodule \"a\"]\nupdate = !x", "submodule.a.update"},
      {"[submodule \"../../a\"]\nurl = ./x", "submodule.../../a.url"},
      {"[submodule \"-a\"]\nactive = true", "submodule.-a.active"},
      {"[submodule \"a\"]\npath = -x", "submodule.a.path"},
      {"[remote \"a\"]\nvcs = x", "remote.a.vcs"},
      {"[remote \"a\"]\nuploadpack = x", "remote.a.uploadpack"},
      {"[remote \"a\"]\nreceivepack = x", "remote.a.receivepack"},
      {"[remote \"a\"]\nproxy = x", "remote.a.proxy"},
      {"[remote]\nurl = x", "remote.url"},
      {"[branch \"a\"]\nmergeOptions = -s x", "branch.a.mergeoptions"},
      {"[branch \"a\"]\nremote = ext::x", "branch.a.remote"},
      {"[branch \"a\"]\npushRemote = ext::x", "branch.a.pushremote"},
      {"[branch \"a\"]\nmerge = --x", "branch.a.merge"},
      {"[remote]\npushDefault = ext::x", "remote.pushdefault"},
      {"[extensions]\nworktreeConfig = true", "extensions.worktreeconfig"},
      {"[extensions]\npartialClone = ext::x", "extensions.partialclone"},
      {"[http]\nproxy = x", "http.proxy"},
      {"[gc]\nrecentObjectsHook = x", "gc.recentobjectshook"},
      {"[init]\ntemplateDir = x", "init.templatedir"},
      {"[sequence]\neditor = x", "sequence.editor"},
      {"[pager]\nlog = x", "pager.log"},
      {"[uploadpack]\npackObjectsHook = x", "uploadpack.packobjectshook"},
      {"[lfs \"customtransfer.x\"]\npath = x", "lfs.customtransfer.x.path"},
      {"[commit]\ngpgSign = true", "commit.gpgsign"},
      {"[something]\nnew = x", "something.new"},
  };
  for (const auto& [text, key] : cases) EXPECT_THAT(KeysOfNew(text), ElementsAre(key)) << text;
}

TEST(ProgramStartingKeysTest, AddressThatIsNotAProgramIsHarmless) {
  for (const std::string url : {"https://example.org/a", "http://u:p%40@example.org:80/a", "ssh://git@example.org/a",
                                "git://example.org/a", "file:///srv/a", "git@example.org:a/b.git", "example.org:a",
                                "../a.git", "./a", "a", "a/b:c", "/srv/a", "ssh://[::1]/a", "", "a/b::c", "origin"}) {
    EXPECT_THAT(KeysOfNew("[remote \"a\"]\nurl = " + url), IsEmpty()) << url;
  }
}

TEST(ProgramStartingKeysTest, AddressThatNamesAProgramIsNot) {
  for (const std::string url : {"ext::sh -c x",
                                "fd::7",
                                "EXT::x",
                                "foo::https://example.org",
                                "::x",
                                "foo://x",
                                "ext://x",
                                "HTTPS://example.org",
                                "://x",
                                ":x",
                                "-x",
                                "--upload-pack=x",
                                "ssh://-oProxyCommand=x/a",
                                "ssh://u@-oProxyCommand=x/a",
                                "ssh://%2doProxyCommand=x/a",
                                "ssh://-u@example.org/a",
                                "-oProxyCommand=x:a",
                                "u@-oProxyCommand=x:a",
                                "\"https://example.org/\\nx\"",
                                "ext\\\n::x",
                                "\"ext\"::x",
                                "e\"xt::x\""}) {
    EXPECT_THAT(KeysOfNew("[remote \"a\"]\nurl = " + url), ElementsAre("remote.a.url")) << url;
    EXPECT_THAT(KeysOfNew("[submodule \"a\"]\nurl = " + url), ElementsAre("submodule.a.url")) << url;
  }
}

TEST(ProgramStartingKeysTest, PersonsOwnEntriesMayStay) {
  constexpr std::string_view kBefore = "[core]\n\thooksPath = mine\n[alias]\n\tst = !x\n";
  EXPECT_THAT(ProgramStartingKeys("[alias]\nst = \"!x\"\n[core]\nbare = false\nHOOKSPATH=mine", kBefore), IsEmpty());
  EXPECT_THAT(ProgramStartingKeys("[core]\nbare = false", kBefore), IsEmpty());
}

TEST(ProgramStartingKeysTest, PersonsOwnEntriesMayNotChange) {
  constexpr std::string_view kBefore = "[core]\nhooksPath = mine\n";
  for (const std::string_view text :
       {"[core]\nhooksPath = Mine", "[core]\nhooksPath", "[core]\nhooksPath = mine/..",
        "[core]\nhooksPath = mine\nhooksPath = x", "[core]\nhooksPath = mine\n[core]\nhooksPath = mine"}) {
    EXPECT_THAT(ProgramStartingKeys(text, kBefore), ElementsAre("core.hookspath")) << text;
  }
  constexpr std::string_view kCase = "[filter \"a\"]\nclean = x";
  EXPECT_THAT(ProgramStartingKeys("[filter \"A\"]\nclean = x", kCase), ElementsAre("filter.A.clean"));
}

TEST(ProgramStartingKeysTest, OrderOfValuesCounts) {
  constexpr std::string_view kBefore = "[core]\npager = a\npager = b";
  EXPECT_THAT(ProgramStartingKeys("[core]\npager = b\npager = a", kBefore), ElementsAre("core.pager"));
  EXPECT_THAT(ProgramStartingKeys("[core]\npager = a", kBefore), ElementsAre("core.pager"));
}

TEST(ProgramStartingKeysTest, EachKeyIsNamedOnceInTheOrderOfTheText) {
  EXPECT_THAT(KeysOfNew("[core]\npager = a\neditor = x\npager = b\nbare = true"),
              ElementsAre("core.pager", "core.editor"));
}

TEST(ProgramStartingKeysTest, OldFileThatIsNotUnderstoodExcusesNothing) {
  EXPECT_THAT(ProgramStartingKeys("[core]\npager = a", "[core]\npager = a\n[broken"), ElementsAre("core.pager"));
}

TEST(ProgramStartingKeysTest, UnchangedFileIsFineWhateverItSays) {
  EXPECT_THAT(ProgramStartingKeys("[core]\npager = a", "[core]\npager = a"), IsEmpty());
  EXPECT_THAT(ProgramStartingKeys("[broken", "[broken"), IsEmpty());
}

}  // namespace
}  // namespace skerry::policy
