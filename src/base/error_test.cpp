#include "base/error.hpp"

#include <set>
#include <string_view>

#include <gtest/gtest.h>

namespace skerry::base {
namespace {

TEST(ErrorTableTest, EveryCodeStandsAtItsOwnPlace) {
  ASSERT_EQ(CodeTable().size(), static_cast<std::size_t>(Code::kInternal) + 1);
  for (const CodeRow& row : CodeTable()) EXPECT_EQ(RowOf(row.code).name, row.name);
}

TEST(ErrorTableTest, NamesAndJsonRpcCodesAreUnique) {
  std::set<std::string_view> names;
  std::set<int> codes;
  for (const CodeRow& row : CodeTable()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(codes.insert(row.json_rpc_code).second) << row.name;
  }
}

TEST(ErrorTableTest, ExitCodesAreTheOnesOfTheContract) {
  EXPECT_EQ(RowOf(Code::kTimeout).exit_code, 124);
  EXPECT_EQ(RowOf(Code::kInvalidArgument).exit_code, 125);
  EXPECT_EQ(RowOf(Code::kInternal).exit_code, 125);
  EXPECT_EQ(RowOf(Code::kRejected).exit_code, 126);
}

TEST(ErrorTableTest, HttpStatusesAreErrors) {
  for (const CodeRow& row : CodeTable()) {
    EXPECT_GE(row.http_status, 400) << row.name;
    EXPECT_LT(row.http_status, 600) << row.name;
  }
}

}  // namespace
}  // namespace skerry::base
