#include "policy/shell_environment.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "policy/shell_findings.hpp"

namespace skerry::policy {
namespace {

using core::RiskLevel;

TEST(ShellEnvironmentTest, SettingsThatAnybodyMayHaveWrittenNeedAPerson) {
  for (const std::string_view code :
       {"HOME=/workspace/h", "HOME=h python3 -c 1", "export HOME=/tmp/x", "env HOME=/workspace/h git q", "HOME=$x ls",
        "HOME=/etc/../workspace ls", "HOME=$PWD/h ls", "XDG_CONFIG_HOME=/workspace/h/.config git q",
        "XDG_CONFIG_DIRS=/etc/xdg:/tmp/x git q", "XDG_DATA_HOME=x ls", "KUBECONFIG=./k kubectl get pods",
        "JAVA_HOME=/workspace/jdk java -version", "ANSIBLE_CONFIG=a.cfg ansible all", "WGETRC=/tmp/w wget x"})
    EXPECT_EQ(LevelOf(FindingsOf(code)), RiskLevel::kHigh) << code;
  for (const std::string_view code :
       {"HOME=/root ls", "HOME=/nonexistent make", "HOME=/home/agent ls", "XDG_CONFIG_HOME=$HOME/.config ls",
        "XDG_CONFIG_HOME=~/.config ls", "KUBECONFIG=~/.kube/config kubectl get pods",
        "JAVA_HOME=/usr/lib/jvm/java-17 java -version", "export HOME=${HOME:-/root}; make"})
    EXPECT_EQ(LevelOf(FindingsOf(code)), RiskLevel::kMedium) << code;
  EXPECT_EQ(LevelOf(FindingsOf("XDG_CACHE_HOME=/tmp/cache ls")), RiskLevel::kSafe);
}

TEST(ShellEnvironmentTest, VariablesThatLoadCodeNeedAPerson) {
  for (const std::string_view name : {"PYTEST_PLUGINS",
                                      "PYTEST_ADDOPTS",
                                      "LUA_INIT",
                                      "LUA_INIT_5_4",
                                      "LUA_CPATH_5_3",
                                      "JAVA_OPTS",
                                      "MANOPT",
                                      "BASH_LOADABLES_PATH",
                                      "VIM",
                                      "VIMRUNTIME",
                                      "VIMINIT",
                                      "EXINIT",
                                      "LESSKEYIN",
                                      "PERL5LIB",
                                      "PERL5SHELL",
                                      "BUNDLE_GEMFILE",
                                      "GEM_PATH",
                                      "HGRCPATH",
                                      "SVN_SSH",
                                      "GCC_EXEC_PREFIX",
                                      "CCACHE_PREFIX",
                                      "PSQLRC",
                                      "DOTNET_STARTUP_HOOKS",
                                      "ERL_FLAGS",
                                      "R_PROFILE",
                                      "R_LIBS_USER",
                                      "MAKEFILES",
                                      "_JAVA_OPTIONS",
                                      "NPM_CONFIG_SCRIPT_SHELL",
                                      "GIT_CONFIG_KEY_0",
                                      "PYTHONUSERBASE",
                                      "PIP_CONFIG_FILE",
                                      "MATPLOTLIBRC",
                                      "TF_CLI_ARGS_plan",
                                      "CMAKE_TOOLCHAIN_FILE",
                                      "OPENSSL_CONF"})
    EXPECT_EQ(LevelOf(FindingsOf(std::string(name) + "=x ls")), RiskLevel::kHigh) << name;
  for (const std::string_view code : {"LANG=C ls", "PIP_NO_CACHE_DIR=1 ls", "MPLBACKEND=Agg ls", "MY_HOME=/tmp ls"})
    EXPECT_EQ(LevelOf(FindingsOf(code)), RiskLevel::kSafe) << code;
  EXPECT_EQ(LevelOf(FindingsOf("MPLBACKEND=module://evil ls")), RiskLevel::kHigh);
}

TEST(ShellEnvironmentTest, EveryWayToSetAVariableCounts) {
  for (const std::string_view code :
       {"read HOME < f; ls", "read PYTHONPATH < f; python3 -c 1", "IFS= read -r LD_PRELOAD <<< x",
        "mapfile -t BASH_ENV < f", "readarray PATH < f", "getopts a: PYTHONPATH", "printf -v LD_PRELOAD x",
        "printf -v NODE_OPTIONS %s -r./x", "for LD_PRELOAD in x; do ls; done", "select BASH_ENV in x; do ls; done",
        ": ${LD_PRELOAD:=x}", "echo ${BASH_ENV=x}", "declare -n x=LD_PRELOAD; x=y", "typeset -n x=PYTHONPATH; x=lib",
        "x=LD_PRELOAD; export $x=y", "x=BASH_ENV; declare -x \"$x=y\"", "x=LD_PRELOAD; read $x < f", "((PATH=1)); ls",
        "wait -p PATH"})
    EXPECT_EQ(LevelOf(FindingsOf(code)), RiskLevel::kHigh) << code;
  for (const std::string_view code : {"read LINE < f",
                                      "for x in a b; do echo $x; done",
                                      "echo ${x:=y}",
                                      "printf -v x y",
                                      "declare -n x=y",
                                      "x=FOO; export $x=y",
                                      "echo $((PATH_COUNT + 1))",
                                      "((count=1))",
                                      "read -p PATH x",
                                      "read -r -d ENV x",
                                      "mapfile -d ENV x",
                                      "declare -u x=PATH",
                                      "declare -l env=ENV",
                                      "let x=1",
                                      "echo $((PATH == 1))",
                                      "make \\\n  install",
                                      "getopts HOME: x",
                                      "env -u PATH ls",
                                      "echo ${PATH:-/bin}",
                                      "echo ${PATH}"})
    EXPECT_LE(LevelOf(FindingsOf(code)), RiskLevel::kMedium) << code;
}

TEST(ShellEnvironmentTest, ModulesFromAPlaceThatIsFoundOutNeedAPerson) {
  for (const std::string_view code :
       {"PYTHONPATH=$(cat f) python3 -c 1", "x=$(cat f); PYTHONPATH=$x python3 -c 1", "export NODE_PATH=`cat f`",
        "read x < f; PYTHONPATH=/a:$x python3 -c 1", "cd \"$(cat f)\" && python3 evil.py", "cd $x; bash ./evil.sh"})
    EXPECT_EQ(LevelOf(FindingsOf(code)), RiskLevel::kHigh) << code;
  for (const std::string_view code :
       {"export PYTHONPATH=src:$PYTHONPATH", "PYTHONPATH=$PWD/src python3 -m pytest", "export NODE_PATH=$NODE_PATH:lib",
        "PYTHONPATH=\"${PYTHONPATH:+$PYTHONPATH:}src\" pytest", "export PATH=\"$(npm bin):$PATH\"",
        "PYTHONPATH=$(pwd)/lib pytest", "cd \"$x\" && make", "cd \"$(mktemp -d)\" && python3 x.py"})
    EXPECT_EQ(LevelOf(FindingsOf(code)), RiskLevel::kMedium) << code;
}

TEST(ShellEnvironmentTest, CommandsInVariablesAreAssessed) {
  for (const std::string_view code : {"CC='rm -rf /' make", "SHELL='/workspace/x; rm -rf /' ls", "LD='rm -rf /' make",
                                      "KUBE_EDITOR='rm -rf /' ls", "env CXX='rm -rf /' make"})
    EXPECT_EQ(LevelOf(FindingsOf(code)), RiskLevel::kCritical) << code;
  for (const std::string_view code : {"CC=gcc CXX=g++ make", "SHELL=/bin/bash make", "CC='ccache gcc' make",
                                      "EDITOR=vim git commit", "PAGER='less -R' git log", "CC=${CC:-gcc}; $CC x.c"})
    EXPECT_LE(LevelOf(FindingsOf(code)), code.starts_with("CC=$") ? RiskLevel::kHigh : RiskLevel::kMedium) << code;
  EXPECT_EQ(LevelOf(FindingsOf("EDITOR=\"vim -c '!id'\" git commit")), RiskLevel::kHigh);
}

TEST(ShellEnvironmentTest, OrdersForLessNeedAPerson) {
  for (const std::string_view code :
       {"LESS='+!id' less f", "LESS='-R +!id' less f", "LESS=-R+!id less f", "LESS='-k keys' less f", "LESS=$x less f",
        "LESS='--lesskey-src=x' less f", "less '+!id' f", "less +G!id f", "less -k keys f", "less --lesskey-src=k f"})
    EXPECT_EQ(LevelOf(FindingsOf(code)), RiskLevel::kHigh) << code;
  for (const std::string_view code : {"LESS=-FRX less f", "LESS=FRX less f", "LESS='-R --mouse -x4' less f",
                                      "less +F log", "less +/word f", "less -p word f", "less +20 f", "less -R f"})
    EXPECT_EQ(LevelOf(FindingsOf(code)), RiskLevel::kSafe) << code;
}

}  // namespace
}  // namespace skerry::policy
