#include "os/event_set.hpp"

#include <unistd.h>

#include <gtest/gtest.h>

#include "os/pipe.hpp"

namespace skerry::os {
namespace {

using std::chrono_literals::operator""ms;

TEST(EventSetTest, TellsWhatIsReadyAndNothingElse) {
  EventSet events = EventSet::Create().value();
  Pipe quiet = Pipe::Create().value();
  Pipe busy = Pipe::Create().value();
  ASSERT_TRUE(events.Add(quiet.read_end.get(), 1).has_value());
  ASSERT_TRUE(events.Add(busy.read_end.get(), 2).has_value());
  EXPECT_TRUE(events.Wait(base::Deadline::After(0ms))->empty());
  ASSERT_EQ(::write(busy.write_end.get(), "x", 1), 1);
  const auto ready = events.Wait(base::Deadline::After(1000ms));
  ASSERT_EQ(ready->size(), 1U);
  EXPECT_EQ(ready->front(), 2U);
}

TEST(EventSetTest, TheEndOfTheOtherSideIsTold) {
  EventSet events = EventSet::Create().value();
  Pipe pipe = Pipe::Create().value();
  ASSERT_TRUE(events.Add(pipe.read_end.get(), 7).has_value());
  pipe.write_end.Reset();
  EXPECT_EQ(events.Wait(base::Deadline::After(1000ms))->size(), 1U);
}

TEST(EventSetTest, WhatWasRemovedIsNotTold) {
  EventSet events = EventSet::Create().value();
  Pipe pipe = Pipe::Create().value();
  ASSERT_TRUE(events.Add(pipe.read_end.get(), 7).has_value());
  const base::UniqueFd copy(::dup(pipe.read_end.get()));
  events.Remove(pipe.read_end.get());
  pipe.read_end.Reset();
  ASSERT_EQ(::write(pipe.write_end.get(), "x", 1), 1);
  EXPECT_TRUE(events.Wait(base::Deadline::After(20ms))->empty());
}

}  // namespace
}  // namespace skerry::os
