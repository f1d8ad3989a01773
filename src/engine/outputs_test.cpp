#include "engine/outputs.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/unique_fd.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::engine {
namespace {

class OutputsTest : public testing::Test {
 protected:
  void Make(std::uint64_t each, std::uint64_t all) {
    outputs_ = std::make_unique<Outputs>(fd_.get(), base::BudgetLimits{.each = each, .all = all});
  }
  // A finished run that wrote so many bytes, if there was room.
  bool Wrote(const std::string& id, const std::string& tenant, std::uint64_t bytes,
             base::Reach reach = base::Reach::kTenant) {
    outputs_->Begin({.id = id, .sequence = ++sequence_, .tenant = tenant}, reach);
    const bool taken = !outputs_->Take(id, bytes);
    if (taken) std::ofstream(directory_.path() / id) << std::string(bytes, 'x');
    outputs_->End(id);
    return taken;
  }
  bool Has(const std::string& id) { return std::filesystem::exists(directory_.path() / id); }

  support::TemporaryDirectory directory_;
  base::UniqueFd fd_{::open(directory_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  std::unique_ptr<Outputs> outputs_;
  std::uint64_t sequence_ = 0;
};

TEST_F(OutputsTest, TheOldestOutputOfATenantGoesFirst) {
  Make(100, 1000);
  EXPECT_TRUE(Wrote("a1", "a", 60));
  EXPECT_TRUE(Wrote("b1", "b", 60));
  EXPECT_TRUE(Wrote("a2", "a", 30));
  EXPECT_TRUE(Wrote("a3", "a", 50));
  EXPECT_FALSE(Has("a1"));
  EXPECT_TRUE(Has("a2"));
  EXPECT_TRUE(Has("a3"));
  EXPECT_TRUE(Has("b1"));
  EXPECT_EQ(outputs_->budget().used(), 140);
}

TEST_F(OutputsTest, WhatIsStillWrittenStays) {
  Make(100, 1000);
  outputs_->Begin({.id = "live", .sequence = 1, .tenant = "a"}, base::Reach::kTenant);
  EXPECT_EQ(outputs_->Take("live", 90), std::nullopt);
  EXPECT_FALSE(Wrote("a1", "a", 20));
  EXPECT_EQ(outputs_->Take("live", 20), base::Shortage::kOwn);
  EXPECT_EQ(outputs_->Take("live", 10), std::nullopt);
}

TEST_F(OutputsTest, WhoHasMostPaysForWhatAllHaveTooMuchOf) {
  Make(100, 150);
  EXPECT_TRUE(Wrote("small", "b", 20));
  EXPECT_TRUE(Wrote("a1", "a", 50));
  EXPECT_TRUE(Wrote("a2", "a", 50));
  EXPECT_TRUE(Wrote("c1", "c", 60));
  EXPECT_TRUE(Has("small"));
  EXPECT_FALSE(Has("a1"));
  EXPECT_TRUE(Has("a2"));
}

TEST_F(OutputsTest, TheOwnerIsNeverRefusedAndLosesOldOutput) {
  Make(100, 100);
  EXPECT_TRUE(Wrote("o1", "local", 80, base::Reach::kReserve));
  EXPECT_TRUE(Wrote("o2", "local", 500, base::Reach::kReserve));
  EXPECT_FALSE(Has("o1"));
  EXPECT_TRUE(Has("o2"));
}

TEST_F(OutputsTest, WhatWasLeftCountsAndWhatIsNobodysGoes) {
  for (const char* name : {"a1", "a2", "stray"}) std::ofstream(directory_.path() / name) << std::string(60, 'x');
  Make(100, 1000);
  ASSERT_TRUE(
      outputs_->Adopt({{.id = "a1", .tenant = "a", .sequence = 1}, {.id = "a2", .tenant = "a", .sequence = 2}}));
  EXPECT_FALSE(Has("stray"));
  EXPECT_EQ(outputs_->budget().UsedBy("a"), 120);
  sequence_ = 2;
  EXPECT_TRUE(Wrote("a3", "a", 30));
  EXPECT_FALSE(Has("a1"));
  EXPECT_TRUE(Has("a2"));
}

TEST_F(OutputsTest, WhoReadsSlowlyKeepsNothingOnTheDisk) {
  Make(100, 1000);
  EXPECT_TRUE(Wrote("a1", "a", 90));
  const base::UniqueFd reader(::open((directory_.path() / "a1").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(Wrote("a2", "a", 90));
  EXPECT_FALSE(Has("a1"));
  EXPECT_EQ(::lseek(reader.get(), 0, SEEK_END), 0);
}

TEST_F(OutputsTest, OldOutputGoesForADiskThatIsFull) {
  std::uint64_t left = 50;
  outputs_ = std::make_unique<Outputs>(fd_.get(), base::BudgetLimits{.left = [&left] { return left; }});
  EXPECT_TRUE(Wrote("a1", "a", 10));
  EXPECT_TRUE(Wrote("b1", "b", 20));
  left = 0;
  outputs_->MakeRoomOnDisk(0);
  EXPECT_TRUE(Has("a1") && Has("b1"));
  outputs_->MakeRoomOnDisk(1);  // the disk has no room, whatever is removed
  EXPECT_FALSE(Has("a1") || Has("b1"));
  EXPECT_EQ(outputs_->evicted(), 2);
}

TEST_F(OutputsTest, WhatIsRemovedMakesRoom) {
  Make(100, 1000);
  EXPECT_TRUE(Wrote("a1", "a", 100));
  outputs_->Remove("a1");
  EXPECT_FALSE(Has("a1"));
  EXPECT_EQ(outputs_->budget().used(), 0);
}

}  // namespace
}  // namespace skerry::engine
