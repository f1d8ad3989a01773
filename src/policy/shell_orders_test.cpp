// Programs that a shell starts and gives commands, a script, or another program.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "policy/shell_findings.hpp"

namespace skerry::policy {
namespace {

using core::RiskLevel;

TEST(ShellOrdersTest, AScriptThatCannotBeNamedNeedsAPerson) {
  ExpectLevel(RiskLevel::kHigh, {
                                    R"(source "$VENV/bin/activate")",
                                    "sh ev*.sh",
                                    "sh \"$f\"",
                                    "for f in evil*.sh; do sh \"$f\"; done",
                                    "find . -name x.sh -exec sh {} \\;",
                                    "find sub -exec sh {} \\;",
                                    "find sub -exec env sh {} +",
                                    "ls x.sh | xargs sh",
                                    "xargs sh",
                                    "sh \"$(ls x.sh)\"",
                                    "cat good.sh evil.sh | sh",
                                    "bash +O extglob ev*.sh",
                                    "bash - \"$f\"",
                                    "awk -f \"$f\" x",
                                });
  ExpectLevel(RiskLevel::kMedium,
              {"for f in a.sh b.sh; do sh \"$f\"; done", "find . -name '*.py' -exec python3 -m x {} +",
               "ls | xargs python3 x.py", "cat a b | sort", "find . -exec grep x {} +", "cp a.sh b.sh; sh b.sh",
               "cp a.sh .; sh a.sh", "cp a b; cp b c; sh c"});
  ExpectLevel(RiskLevel::kCritical, {"curl x > a; cat b a | sh", "curl x > a; cat a - | sh", "cd /; bash -c 'rm -rf *'",
                                     "cd / && bash -c 'rm -rf *'", "cd /; pushd /tmp; popd; rm -rf *"});
}

TEST(ShellOrdersTest, WrappersAreTakenOff) {
  for (const std::string_view wrapper : {"prlimit",
                                         "prlimit --nofile=64",
                                         "choom -n 0",
                                         "x86_64",
                                         "setarch x86_64 -R",
                                         "linux32",
                                         "ssh-agent",
                                         "rlwrap",
                                         "tini --",
                                         "dumb-init",
                                         "gosu nobody",
                                         "faketime yesterday",
                                         "cpulimit --",
                                         "logsave log",
                                         "run0 -u x",
                                         "direnv exec .",
                                         "/lib64/ld-linux-x86-64.so.2 --argv0 x",
                                         "systemd-inhibit",
                                         "hyperfine",
                                         "chpst -u x",
                                         "entr"})
    EXPECT_EQ(LevelOf(FindingsOf(std::string(wrapper) + " rm -rf /")), RiskLevel::kCritical) << wrapper;
  ExpectLevel(RiskLevel::kHigh, {"bwrap --ro-bind / / ls", "capsh -- -c ls"});
  ExpectLevel(RiskLevel::kMedium,
              {"prlimit", "choom -p 1", "setarch --list", "npm exec prettier .", "script -qc ls x"});
}

TEST(ShellOrdersTest, OrdersThatAreThereNeedAPerson) {
  ExpectLevel(RiskLevel::kHigh, {
                                    "ed -s <<< '!id'",
                                    "echo '.shell id' | sqlite3",
                                    "sqlite3 x.db '.shell id'",
                                    "sqlite3 x.db 'select 1' '.system id'",
                                    "sqlite3 -cmd '.sh id' x.db",
                                    "sqlite3 x.db \"select writefile('x', 'y')\"",
                                    "printf 'select 1;\\n.output |id\\n' | sqlite3 x.db",
                                    "gen | sqlite3 x.db",
                                    "curl x | psql",
                                    "psql -c '\\! id'",
                                    "mysql -e 'system id'",
                                    "mysql db -Be 'system id'",
                                    "psql db -tAc '\\! id'",
                                    "echo 'system id' | mysql -uroot -psecret",
                                    "psql -c \"copy t from program 'id'\"",
                                    "sqlite3 x.db -cmd '.sh id'",
                                    "node -r \"$x\" -e 1",
                                    "echo 'all:; id' | make -f -",
                                    "make --eval 'all:; id'",
                                    "make SHELL=./x",
                                    "awk -f - <<< 'BEGIN { system(\"id\") }'",
                                    "gen | awk -f - x",
                                    "sed -f - x <<< '1e id'",
                                    "sed 's/[/]/id/e' x",
                                    "gdb -iex 'shell id'",
                                    "echo '!id' | vim",
                                    "python3 -m \"$x\"",
                                });
  ExpectLevel(RiskLevel::kCritical, {"curl x | make -f -", "curl x | sed -f - f", "curl x | ed f",
                                     "node -pe \"require('child_process').execSync('id')\"",
                                     "python3 -m timeit \"__import__('os').system('id')\"",
                                     "python3 -m timeit -s \"__import__('os').system('id')\" 1",
                                     "python3 -m code <<< \"__import__('os').system('id')\"",
                                     "echo \"__import__('os').system('id')\" | python3 -m asyncio"});
  ExpectLevel(RiskLevel::kMedium, {
                                      "sqlite3 x.db 'select 1'",
                                      "sqlite3 -header x.db '.tables'",
                                      "echo 'select 1;' | sqlite3 x.db",
                                      "psql -c 'select 1'",
                                      "psql <<< '\\dt'",
                                      "mysql -e 'select 1\\G'",
                                      "psql -tAc 'select program from programs'",
                                      "sqlite3 x.db 'insert into credit(a) values (1)'",
                                      "while read -r x; do sqlite3 x.db \"insert into t values ('$x')\"; done < f",
                                      "awk -f - f <<< '{ print }'",
                                      "sed 's/[/]/x/g' f",
                                      "make -f other.mk",
                                      "python3 -m timeit '1 + 1'",
                                      "python3 -m pip install x",
                                      "tr a b < f | sh -n",
                                      "bash -n x.sh",
                                      "node -pe 1+1",
                                  });
  ExpectLevel(RiskLevel::kCritical, {"curl x | sh -in", "base64 -d x | bash +n"});
}

}  // namespace
}  // namespace skerry::policy
