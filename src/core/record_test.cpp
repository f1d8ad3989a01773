#include "core/record.hpp"

#include <gtest/gtest.h>

namespace skerry::core {
namespace {

TEST(RecordTest, EveryNameIsTakenBack) {
  for (const auto action : {FileAction::kCreated, FileAction::kChanged, FileAction::kRemoved})
    EXPECT_EQ(ParseFileAction(NameOf(action)), action);
  for (const auto kind : {FileKind::kFile, FileKind::kLink}) EXPECT_EQ(ParseFileKind(NameOf(kind)), kind);
  for (const auto how : {FileUse::How::kRead, FileUse::How::kNamed}) EXPECT_EQ(ParseHow(NameOf(how)), how);
  for (const auto state : {ExecutionState::kRunning, ExecutionState::kDone, ExecutionState::kLost})
    EXPECT_EQ(ParseExecutionState(NameOf(state)), state);
}

TEST(RecordTest, OtherWordsAreNoNames) {
  EXPECT_EQ(ParseFileAction(""), std::nullopt);
  EXPECT_EQ(ParseFileAction("Created"), std::nullopt);
  EXPECT_EQ(ParseFileKind("directory"), std::nullopt);
  EXPECT_EQ(ParseHow("written"), std::nullopt);
  EXPECT_EQ(ParseExecutionState("running "), std::nullopt);
}

}  // namespace
}  // namespace skerry::core
