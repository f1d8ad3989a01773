#include "engine/secrets.hpp"

#include <unistd.h>

#include <cstdlib>

#include <gtest/gtest.h>

#include "base/unique_fd.hpp"
#include "os/files.hpp"

namespace skerry::engine {
namespace {

class SecretsTest : public testing::Test {
 protected:
  SecretsTest() {
    const base::UniqueFd file(::mkstemp(path_.data()));
    EXPECT_TRUE(os::WriteAll(file.get(), "of a file\n").has_value());
    ::setenv("SKERRY_TEST_OF_PROCESS", "of the process", 1);
  }
  ~SecretsTest() override { ::unlink(path_.c_str()); }

  std::string path_ = testing::TempDir() + "skerry-secret-XXXXXX";
  const Secrets& secrets() {
    static constexpr auto kFile = SecretSource::Kind::kFile;
    static constexpr auto kVariable = SecretSource::Kind::kVariable;
    secrets_ = Secrets({{"file", {.kind = kFile, .from = path_}},
                        {"process", {.kind = kVariable, .from = "SKERRY_TEST_OF_PROCESS", .tenants = {"ann"}}},
                        {"gone", {.kind = kFile, .from = path_ + ".gone"}},
                        {"unset", {.kind = kVariable, .from = "SKERRY_TEST_UNSET"}}});
    return secrets_;
  }

 private:
  Secrets secrets_;
};

TEST_F(SecretsTest, AReferenceIsReplacedByTheValue) {
  const auto resolved = Resolve({{"A", "secret:file"}, {"B", "plain"}, {"C", "given"}}, {"C"}, secrets(), "");
  ASSERT_TRUE(resolved) << resolved.error().message;
  EXPECT_EQ(resolved->values, (Environment{{"A", "of a file"}, {"B", "plain"}, {"C", "given"}}));
  EXPECT_EQ(resolved->secrets, (std::vector<std::string>{"of a file", "given"}));
}

TEST_F(SecretsTest, ATenantHasItsOwnSecretsAndNoOthers) {
  EXPECT_EQ(secrets().Read("process", "ann").value_or(""), "of the process");
  EXPECT_EQ(secrets().Read("process", "").value_or(""), "of the process");
  EXPECT_EQ(secrets().Read("file", "local").value_or(""), "of a file");
  for (const auto& [name, tenant] :
       {std::pair{"process", "bob"}, {"process", "local"}, {"file", "ann"}, {"none", ""}}) {
    const auto read = secrets().Read(name, tenant);
    ASSERT_FALSE(read) << name;
    EXPECT_EQ(read.error().code, base::Code::kNotFound);
  }
}

TEST_F(SecretsTest, WhatCannotBeReadIsNamed) {
  EXPECT_EQ(secrets().Read("unset", "").error().message,
            "the secret unset cannot be read: the variable SKERRY_TEST_UNSET is not set");
  EXPECT_TRUE(secrets().Read("gone", "").error().message.starts_with("the secret gone cannot be read: "));
}

}  // namespace
}  // namespace skerry::engine
