#include "launcher/fork_order.hpp"

#include <gtest/gtest.h>

namespace skerry::launcher {
namespace {

TEST(ForkOrderTest, ArrivesAsItWasSent) {
  ForkOrder order;
  order.limits = {.open_files = 7, .file_bytes = 8, .processes = 9, .data_bytes = 10};
  order.filter.refused_mode_bits = 04000;
  order.filter.unmapped_memory = os::FilterOptions::UnmappedMemory::kNotCounted;
  order.landlock_abi = 6;
  const auto decoded = DecodeForkOrder(Encode(order));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->limits.data_bytes, 10U);
  EXPECT_EQ(decoded->filter, order.filter);
  EXPECT_EQ(decoded->landlock_abi, 6);
  const auto answer = DecodeForkAnswer(Encode(ForkAnswer{1234, 0}));
  EXPECT_EQ(answer->pid, 1234U);
}

TEST(ForkOrderTest, EveryCutAndEveryExtraByteIsRefused) {
  const std::string order = Encode(ForkOrder{});
  for (std::size_t size = 0; size < order.size(); ++size)
    EXPECT_FALSE(DecodeForkOrder(std::string_view(order).substr(0, size)).has_value()) << size;
  EXPECT_FALSE(DecodeForkOrder(order + "x").has_value());
  EXPECT_FALSE(DecodeForkAnswer(order).has_value());
}

}  // namespace
}  // namespace skerry::launcher
