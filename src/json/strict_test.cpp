#include "json/strict.hpp"

#include <gtest/gtest.h>

namespace skerry::json {
namespace {

TEST(StrictJsonTest, TakesWhatIsPlain) {
  const auto value = ParseStrict(R"({"a":[1,-2,3.5,"x",true,null,{"b":{}}]})");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->dump(), R"({"a":[1,-2,3.5,"x",true,null,{"b":{}}]})");
}

TEST(StrictJsonTest, RefusesWhatIsUnusual) {
  for (const std::string& text :
       {std::string(""), std::string("{"), std::string(R"({"a":1,"a":2})"),
        std::string(R"({"x":{"allow":false,"allow":true}})"), std::string("{} x"), std::string("[1,]"),
        std::string("NaN"), std::string("{\"a\":\"\xff\"}"), std::string("{'a':1}"), std::string("\xef\xbb\xbf[1]"),
        std::string("{}\0", 3), std::string(1'000'000, '['), "[" + std::string(1'000'000, ' ') + "}",
        std::string("[1e999]")}) {
    const auto value = ParseStrict(text);
    ASSERT_FALSE(value) << text.substr(0, 50);
    EXPECT_EQ(value.error().code, base::Code::kInvalidArgument);
    EXPECT_LT(value.error().message.size(), 300U);
  }
}

TEST(StrictJsonTest, CountsEverythingThatCostsMemory) {
  std::string many = "[0";
  for (int i = 0; i < 100'000; ++i) many += ",0";
  EXPECT_FALSE(ParseStrict(many + "]"));
  EXPECT_TRUE(ParseStrict("[[[[1]]]]", {.depth = 4}));
  EXPECT_FALSE(ParseStrict("[[[[1]]]]", {.depth = 3}));
}

TEST(FieldsTest, GivesWhatIsThereAndRefusesTheRest) {
  const auto value = *ParseStrict(R"({"n":5,"t":"x","f":true,"l":["a"],"m":{"k":"v"},"o":{"z":1}})");
  Fields fields(value);
  EXPECT_EQ(fields.Number("n", 1, 10), 5U);
  EXPECT_EQ(fields.Text("t", 5), "x");
  EXPECT_EQ(fields.Flag("f"), true);
  EXPECT_EQ(fields.Texts("l", 2, 2), std::vector<std::string>{"a"});
  EXPECT_EQ(fields.Map("m", 2, 2)->at("k"), "v");
  EXPECT_EQ(fields.Text("missing", 1), std::nullopt);
  const auto status = fields.Finish();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "there is no field o here; there are: f, l, m, missing, n, t");
}

TEST(FieldsTest, SuggestsTheFieldThatWasMeant) {
  const auto value = *ParseStrict(R"({"timout":5})");
  Fields fields(value, "limits.");
  (void)fields.Number("timeout", 1, 10);
  (void)fields.Flag("quiet");
  EXPECT_EQ(fields.Finish().error().message,
            "there is no field limits.timout here (did you mean timeout?); there are: quiet, timeout");
}

TEST(FieldsTest, SaysWhichFieldIsWrong) {
  const struct {
    const char* json;
    const char* problem;
  } kRows[] = {{R"({"n":0})", "limits.n must be a whole number from 1 to 10"},
               {R"({"n":-1})", "limits.n must be a whole number from 1 to 10"},
               {R"({"n":1e18})", "limits.n must be a whole number from 1 to 10"},
               {R"({"n":2.0})", "limits.n must be a whole number from 1 to 10"},
               {R"({"n":"5"})", "limits.n must be a whole number from 1 to 10"},
               {R"({"n":true})", "limits.n must be a whole number from 1 to 10"},
               {R"({"n":null})", "limits.n must not be null; leave it out"},
               {R"([])", "limits. must be an object"}};
  for (const auto& row : kRows) {
    const auto value = *ParseStrict(row.json);
    Fields fields(value, "limits.");
    EXPECT_FALSE(fields.Number("n", 1, 10));
    const auto status = fields.Finish();
    ASSERT_FALSE(status) << row.json;
    EXPECT_EQ(status.error().message, row.problem);
  }
}

}  // namespace
}  // namespace skerry::json
