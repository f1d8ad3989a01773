#include "net/endpoint.hpp"

#include <gtest/gtest.h>

namespace skerry::net {
namespace {

struct Good {
  const char* url;
  const char* described;
};

TEST(EndpointTest, ReadsEveryFormAndTellsItAgain) {
  for (const Good& good :
       {Good{"unix:/run/skerry/socket", "unix:/run/skerry/socket"},
        Good{"unix:///run/skerry/socket", "unix:/run/skerry/socket"},
        Good{"http://localhost:8080", "http://localhost:8080"}, Good{"http://localhost:8080/", "http://localhost:8080"},
        Good{"http://[::1]:8080", "http://[::1]:8080"}, Good{"https://skerry.example", "https://skerry.example:443"},
        Good{"https://skerry.example:8443", "https://skerry.example:8443"}}) {
    const auto endpoint = Endpoint::Parse(good.url);
    ASSERT_TRUE(endpoint.has_value()) << good.url;
    EXPECT_EQ(endpoint->Describe(), good.described);
  }
  EXPECT_EQ(Endpoint::Parse("http://[::1]:8080")->host, "::1");
  EXPECT_EQ(Endpoint::Parse("https://a")->kind, Endpoint::Kind::kTls);
}

TEST(EndpointTest, RefusesWhatIsNoAddressOfADaemon) {
  for (const std::string url : {"",
                                "localhost:8080",
                                "ftp://localhost:21",
                                "HTTP//x",
                                "unix:",
                                "unix:relative",
                                "http://",
                                "http://localhost",
                                "http://:8080",
                                "http://localhost:",
                                "http://localhost:0",
                                "http://localhost:65536",
                                "http://localhost:80x",
                                "http://localhost:-1",
                                "http://localhost:8080/v1",
                                "http://localhost:8080?a=b",
                                "http://localhost:8080#a",
                                "http://[::1",
                                "http://[]:1",
                                "http://[::1]8080",
                                "http://a b:1",
                                "http://a\r\nb:1",
                                "https://a:1:2"}) {
    const auto endpoint = Endpoint::Parse(url);
    ASSERT_FALSE(endpoint.has_value()) << url;
    EXPECT_EQ(endpoint.error().code, base::Code::kInvalidArgument);
    EXPECT_FALSE(endpoint.error().message.contains('\n')) << endpoint.error().message;
  }
  EXPECT_FALSE(Endpoint::Parse("unix:/" + std::string(200, 'x')).has_value());
  EXPECT_FALSE(Endpoint::Parse(std::string("unix:/a\0b", 9)).has_value());
}

TEST(EndpointTest, DoesNotRepeatAPassword) {
  const auto endpoint = Endpoint::Parse("http://me:secret@localhost:1");
  ASSERT_FALSE(endpoint.has_value());
  EXPECT_FALSE(endpoint.error().message.contains("secret"));
}

TEST(EscapeTest, LeavesOnlyLettersDigitsAndFourMarks) {
  EXPECT_EQ(Escape("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(Escape("a b/c?d=e&f+g%"), "a%20b%2Fc%3Fd%3De%26f%2Bg%25");
  EXPECT_EQ(Escape("\xC3\xA4\n"), "%C3%A4%0A");
  EXPECT_EQ(Escape(std::string_view("\0", 1)), "%00");
}

}  // namespace
}  // namespace skerry::net
