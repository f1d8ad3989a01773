#include "core/service_store.hpp"

#include <gtest/gtest.h>

namespace skerry::core {
namespace {

TEST(ServiceStoreTest, EveryNameIsTakenBack) {
  for (const auto scope : {TokenScope::kRead, TokenScope::kRun, TokenScope::kApprove, TokenScope::kAdmin})
    EXPECT_EQ(ParseTokenScope(NameOf(scope)), scope);
  for (const auto state : {RunState::kWaiting, RunState::kRunning, RunState::kDone, RunState::kLost})
    EXPECT_EQ(ParseRunState(NameOf(state)), state);
}

TEST(ServiceStoreTest, TheNamesAreThoseThatAreStored) {
  EXPECT_EQ(NameOf(TokenScope::kRead), "read");
  EXPECT_EQ(NameOf(TokenScope::kRun), "run");
  EXPECT_EQ(NameOf(TokenScope::kApprove), "approve");
  EXPECT_EQ(NameOf(TokenScope::kAdmin), "admin");
  EXPECT_EQ(NameOf(RunState::kWaiting), "waiting");
  EXPECT_EQ(NameOf(RunState::kRunning), "running");
  EXPECT_EQ(NameOf(RunState::kDone), "done");
  EXPECT_EQ(NameOf(RunState::kLost), "lost");
}

TEST(ServiceStoreTest, OtherWordsAreNoNames) {
  for (const char* word : {"", "Read", "admin ", "write"}) EXPECT_EQ(ParseTokenScope(word), std::nullopt) << word;
  for (const char* word : {"", "Done", "running ", "ended"}) EXPECT_EQ(ParseRunState(word), std::nullopt) << word;
}

TEST(ServiceStoreTest, WhatIsDoneOrLostStaysSo) {
  EXPECT_TRUE(IsFinal(RunState::kDone));
  EXPECT_TRUE(IsFinal(RunState::kLost));
  EXPECT_FALSE(IsFinal(RunState::kWaiting));
  EXPECT_FALSE(IsFinal(RunState::kRunning));
}

}  // namespace
}  // namespace skerry::core
