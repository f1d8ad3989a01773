#include "transport/http/places.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace skerry::transport::http {
namespace {

using Door = Places::Door;

Places Small() {
  return Places({.all = 8, .per_peer = 6, .per_tenant = 3, .strangers = 3, .for_owner = 2});
}

TEST(PlacesTest, NobodyTakesThePlacesOfTheOwner) {
  Places places = Small();
  for (int at = 0; at < 100; ++at) {
    const auto entry = places.Enter(Door::kStranger, "10.0.0." + std::to_string(at));
    if (entry.id) (void)places.Show(*entry.id, "tenant " + std::to_string(at));
  }
  EXPECT_EQ(places.size(), 6U);
  EXPECT_TRUE(places.Enter(Door::kOwner, "uid 0").id);
  EXPECT_TRUE(places.Enter(Door::kOwner, "uid 0").id);
  EXPECT_FALSE(places.Enter(Door::kOwner, "uid 0").id);
}

TEST(PlacesTest, AStrangerGoesForANewcomerAndTheOldestOfTheLargestCrowdFirst) {
  Places places = Small();
  const auto alone = places.Enter(Door::kStranger, "alone");
  const auto first = places.Enter(Door::kStranger, "crowd");
  const auto second = places.Enter(Door::kStranger, "crowd");
  EXPECT_EQ(places.Enter(Door::kStranger, "crowd").leaves, first.id);
  EXPECT_EQ(places.Enter(Door::kStranger, "newcomer").leaves, second.id);
  EXPECT_EQ(places.strangers(), 3U);
  EXPECT_TRUE(places.Show(*alone.id, "tenant"));
  EXPECT_FALSE(places.Show(*first.id, "tenant")) << "it holds no place any more";
}

TEST(PlacesTest, WhoHasShownATokenStays) {
  Places places = Small();
  for (const std::string tenant : {"a", "a", "a", "b", "b", "b"}) {
    const auto entry = places.Enter(Door::kStranger, "x" + tenant);
    ASSERT_TRUE(entry.id);
    ASSERT_TRUE(places.Show(*entry.id, tenant));
  }
  const auto late = places.Enter(Door::kStranger, "y");
  EXPECT_FALSE(late.id);
  EXPECT_FALSE(late.leaves);
}

TEST(PlacesTest, ATenantHasAShare) {
  Places places = Small();
  std::vector<Places::Id> ids;
  for (int at = 0; at < 3; ++at) ids.push_back(*places.Enter(Door::kStranger, "x").id);
  for (const auto id : ids) EXPECT_TRUE(places.Show(id, "a"));
  EXPECT_TRUE(places.Show(ids.front(), "a")) << "each request shows it again";
  const auto one_more = places.Enter(Door::kStranger, "x");
  EXPECT_FALSE(places.Show(*one_more.id, "a"));
  EXPECT_TRUE(places.Show(*one_more.id, "b"));
  places.Leave(ids.front());
  EXPECT_TRUE(places.Show(*one_more.id, "a"));
}

TEST(PlacesTest, AWrongTokenMakesAStranger) {
  Places places = Small();
  const auto entry = places.Enter(Door::kStranger, "x");
  EXPECT_TRUE(places.Show(*entry.id, "a"));
  EXPECT_EQ(places.strangers(), 0U);
  places.Distrust(*entry.id);
  places.Distrust(*entry.id);
  EXPECT_EQ(places.strangers(), 1U);
  places.Leave(*entry.id);
  EXPECT_EQ(places.strangers(), 0U);
  EXPECT_EQ(places.size(), 0U);
}

TEST(PlacesTest, OneAddressHasAtMostItsOwn) {
  Places places = Small();
  std::vector<Places::Id> ids;
  for (int at = 0; at < 6; ++at) {
    ids.push_back(*places.Enter(Door::kStranger, "x").id);
    ASSERT_TRUE(places.Show(ids.back(), at < 3 ? "a" : "b"));
  }
  EXPECT_FALSE(places.Enter(Door::kStranger, "x").id);
  places.Distrust(ids[4]);
  EXPECT_EQ(places.Enter(Door::kStranger, "x").leaves, ids[4]);
}

TEST(PlacesTest, EvenTheSmallestServerHasAPlace) {
  Places places(SharesOf(1, 1));
  EXPECT_TRUE(places.Enter(Door::kStranger, "x").id);
}

TEST(PlacesTest, TenantsBehindOneAddressKeepNobodyOut) {
  Places places({.all = 12, .per_peer = 4, .per_tenant = 3, .strangers = 3, .for_owner = 1});
  for (const char* tenant : {"a", "b", "c"})
    for (int at = 0; at < 3; ++at) EXPECT_TRUE(places.Show(places.Enter(Door::kStranger, "proxy").id.value(), tenant));
  EXPECT_TRUE(places.Enter(Door::kStranger, "proxy").id);
}

}  // namespace
}  // namespace skerry::transport::http
