#include "interpreters/worker.hpp"

#include <gtest/gtest.h>

namespace skerry::interpreters {
namespace {

using Kind = WorkerWord::Kind;
using std::string_literals::operator""s;

TEST(WorkerTest, MessagesAreFieldsThatEndWithNul) {
  EXPECT_EQ(RunMessage("/w", {"A=b", "C=d"}, {.text = "x = 1", .name = "n", .arguments = {"a"}}),
            "run\0/w\0"s + "2\0A=b\0C=d\0n\0"s + "1\0a\0x = 1\0"s);
  EXPECT_EQ(CellsMessage("/w", {}), "cells\0/w\0"s + "0\0"s);
  EXPECT_EQ(CellMessage(7, "y"), "cell\0"s + "7\0y\0"s);
}

TEST(WorkerTest, WordsAreHeardHoweverTheyAreCut) {
  const std::string all =
      "ready\0display\0"s + "2\0text/plain\0a\0text/html\0<b>\0"s + "error\0E\0m\0t\0done\0"s + "1\0ok\0"s;
  for (std::size_t step = 1; step < all.size(); ++step) {
    WorkerHearing hearing(1000);
    std::vector<WorkerWord> words;
    for (std::size_t at = 0; at < all.size(); at += step) {
      hearing.Hear(std::string_view(all).substr(at, step));
      while (auto word = hearing.Next()) words.push_back(*word);
    }
    ASSERT_EQ(words.size(), 4U) << step;
    EXPECT_EQ(words[0].kind, Kind::kReady);
    EXPECT_EQ(words[1].fields, (std::vector<std::string>{"text/plain", "a", "text/html", "<b>"}));
    EXPECT_EQ(words[2].fields.at(2), "t");
    EXPECT_EQ(words[3].fields.at(1), "ok");
    EXPECT_FALSE(hearing.Broken());
  }
}

TEST(WorkerTest, WhatIsNoWordBreaksIt) {
  for (const std::string& bytes : {"junk\0"s, "display\0many\0"s, "display\0"s + "65\0"s, "result\0-1\0"s, "\0"s}) {
    WorkerHearing hearing(1000);
    hearing.Hear(bytes);
    EXPECT_FALSE(hearing.Next().has_value());
    EXPECT_TRUE(hearing.Broken()) << bytes;
  }
}

TEST(WorkerTest, AWordWithoutEndBreaksItAtTheLimit) {
  WorkerHearing hearing(1000);
  hearing.Hear("error\0E\0"s);
  for (int i = 0; i < 100 && !hearing.Broken(); ++i) {
    hearing.Hear(std::string(100, 'x'));
    EXPECT_FALSE(hearing.Next().has_value());
  }
  EXPECT_TRUE(hearing.Broken());
}

TEST(WorkerTest, DataModulesAreSeenAsWordsOnly) {
  EXPECT_TRUE(UsesDataModules("import pandas as pd"));
  EXPECT_TRUE(UsesDataModules("from numpy.random import rand"));
  EXPECT_FALSE(UsesDataModules("import my_numpy_like"));
  EXPECT_FALSE(UsesDataModules("print('expandas')"));
}

TEST(WorkerTest, EveryWorkerHasAText) {
  for (const auto language : {core::Language::kPython, core::Language::kJavaScript, core::Language::kShell})
    EXPECT_GE(WorkerArguments(language).size(), 3U);
}

}  // namespace
}  // namespace skerry::interpreters
