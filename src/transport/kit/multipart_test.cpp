#include "transport/kit/multipart.hpp"

#include <unistd.h>

#include <vector>

#include <gtest/gtest.h>

#include "os/files.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::transport::kit {
namespace {

enum class Where { kMemory, kFile };

struct Part {
  FormPart head;
  std::string content;
};
using Parts = std::vector<Part>;

http::Request RequestOf(const std::string& body, const std::string& type = "multipart/form-data; boundary=XX",
                        Where where = Where::kMemory) {
  http::Request request;
  request.head.headers = {{"Content-Type", type}};
  request.body.size = body.size();
  if (where == Where::kMemory) {
    request.body.bytes = body;
  } else {
    const support::TemporaryDirectory directory;
    request.body.file = *os::NamelessFile(directory.path());
    EXPECT_TRUE(os::WriteAll(request.body.file.get(), body));
  }
  return request;
}

base::Result<Parts> ReadForm(const http::Request& request, const MultipartLimits& limits = {}) {
  SKERRY_ASSIGN_OR_RETURN(MultipartReader reader, MultipartReader::Open(request, limits));
  Parts parts;
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const auto head, reader.Next());
    if (!head) return parts;
    SKERRY_ASSIGN_OR_RETURN(std::string content, reader.ReadAll(std::size_t{1} << 30U));
    parts.push_back({*head, std::move(content)});
  }
}

const std::string kFormA = "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n";

std::string Form(const std::string& disposition, const std::string& content = "x") {
  return "--XX\r\nContent-Disposition: " + disposition + "\r\n\r\n" + content + "\r\n--XX--\r\n";
}

TEST(MultipartTest, GivesPartsWithTheirNamesTypesAndContent) {
  const std::string content("\r\n\0\r\n-\r\n--X\r\n--", 15);
  const std::string body = kFormA + "one\r\n--XX\r\ncontent-type: image/png\r\nX-Other: 1\r\n" +
                           "Content-Disposition: form-data; name=file; filename=\"pic.png\"\r\n\r\n" + content +
                           "\r\n--XX--";
  for (const auto where : {Where::kMemory, Where::kFile}) {
    const auto parts = ReadForm(RequestOf(body, "Multipart/Form-Data; charset=utf-8; boundary=\"XX\"", where));
    ASSERT_TRUE(parts) << parts.error().message;
    ASSERT_EQ(parts->size(), 2U);
    EXPECT_EQ(parts->at(0).head.name, "a");
    EXPECT_EQ(parts->at(0).head.file_name, std::nullopt);
    EXPECT_EQ(parts->at(0).content, "one");
    EXPECT_EQ(parts->at(1).head.name, "file");
    EXPECT_EQ(parts->at(1).head.file_name, "pic.png");
    EXPECT_EQ(parts->at(1).head.type, "image/png");
    EXPECT_EQ(parts->at(1).content, content);
  }
}

TEST(MultipartTest, AnEmptyFormAndEmptyPartsAreForms) {
  EXPECT_TRUE(ReadForm(RequestOf("--XX--\r\n"))->empty());
  const auto parts = ReadForm(RequestOf(kFormA + "\r\n--XX--\r\n"));
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->at(0).content, "");
}

// Wherever the delimiter lies in the pieces that are read from a file.
TEST(MultipartTest, LargeContentComesBackWhole) {
  for (std::size_t size = (std::size_t{64} << 10U) - 80; size < (std::size_t{64} << 10U) + 10; ++size) {
    const std::string content = std::string(size, '\r') + "\r\n--X";
    const auto parts = ReadForm(RequestOf(kFormA + content + "\r\n" + kFormA + "y\r\n--XX--",
                                          "multipart/form-data; boundary=XX", Where::kFile));
    ASSERT_TRUE(parts) << size << ": " << parts.error().message;
    ASSERT_EQ(parts->size(), 2U);
    ASSERT_EQ(parts->at(0).content, content);
    ASSERT_EQ(parts->at(1).content, "y");
  }
}

TEST(MultipartTest, WhatIsNotReadIsPassedOver) {
  const auto request = RequestOf(kFormA + std::string(300'000, 'x') + "\r\n" + kFormA + "y\r\n--XX--",
                                 "multipart/form-data; boundary=XX", Where::kFile);
  auto reader = MultipartReader::Open(request);
  ASSERT_TRUE(reader);
  EXPECT_TRUE(reader->Next()->has_value());
  EXPECT_FALSE(reader->Read()->empty());
  EXPECT_TRUE(reader->Next()->has_value());
  EXPECT_EQ(*reader->ReadAll(10), "y");
  EXPECT_EQ(*reader->Read(), "");
  EXPECT_FALSE(reader->Next()->has_value());
  EXPECT_FALSE(reader->Next()->has_value());
}

TEST(MultipartTest, AFileNameIsItsLastPartAndNeverLeadsAnywhere) {
  struct Row {
    const char* sent;
    const char* clean;
  };
  for (const Row& row : std::initializer_list<Row>{{"a.txt", "a.txt"},
                                                   {"/home/user/a.txt", "a.txt"},
                                                   {"../../etc/passwd", "passwd"},
                                                   {"C:\\temp\\x.txt", "x.txt"},
                                                   {"a/..", ""},
                                                   {".", ""},
                                                   {"dir/", ""},
                                                   {"", ""},
                                                   {"ü b;c.txt", "ü b;c.txt"}}) {
    const auto parts = ReadForm(RequestOf(Form("form-data; name=\"f\"; filename=\"" + std::string(row.sent) + "\"")));
    ASSERT_TRUE(parts) << row.sent << parts.error().message;
    EXPECT_EQ(parts->at(0).head.file_name, row.clean) << row.sent;
    EXPECT_EQ(parts->at(0).head.sent_name, row.sent);
  }
}

TEST(MultipartTest, QuotesAndTheExtendedFormAreRead) {
  EXPECT_EQ(ReadForm(RequestOf(Form(R"(form-data; name="a\"b\\c"; filename="q\"")")))->at(0).head.name, "a\"b\\c");
  EXPECT_EQ(ReadForm(RequestOf(Form("form-data; name=f; filename*=UTF-8''na%C3%AFve")))->at(0).head.file_name, "naïve");
  EXPECT_EQ(ReadForm(RequestOf(Form("form-data; name=f; filename=\"x\"; filename*=utf-8'de'%2e%2e%2fy")))
                ->at(0)
                .head.file_name,
            "y");
}

struct Case {
  const char* name;
  std::string body;
};

class BadFormTest : public testing::TestWithParam<Case> {};

TEST_P(BadFormTest, IsRefused) {
  for (const auto where : {Where::kMemory, Where::kFile}) {
    const auto request = RequestOf(GetParam().body, "multipart/form-data; boundary=XX", where);
    const auto parts = ReadForm(request);
    ASSERT_FALSE(parts);
    EXPECT_EQ(parts.error().code, base::Code::kInvalidArgument) << parts.error().message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, BadFormTest,
    testing::Values(Case{"Nothing", ""}, Case{"Preamble", "hello\r\n" + kFormA + "x\r\n--XX--"},
                    Case{"LineFirst", "\r\n" + kFormA + "x\r\n--XX--"},
                    Case{"Epilogue", kFormA + "x\r\n--XX--\r\nmore"}, Case{"LateEpilogue", kFormA + "x\r\n--XX--more"},
                    Case{"NoEnd", kFormA + "x"}, Case{"HalfBoundary", kFormA + "x\r\n--X"},
                    Case{"OnlyTheDelimiter", kFormA + "x\r\n--XX"}, Case{"OneDash", kFormA + "x\r\n--XX-"},
                    Case{"LongerBoundary", kFormA + "x\r\n--XXY\r\n--XX--"},
                    Case{"BlankBehindBoundary", kFormA + "x\r\n--XX \r\n\r\n--XX--"},
                    Case{"LineFeeds", "--XX\nContent-Disposition: form-data; name=a\n\nx\n--XX--\n"},
                    Case{"NoEmptyLine", "--XX\r\nContent-Disposition: form-data; name=a\r\n\r\n--XX--\r\n"},
                    Case{"NoHeaders", "--XX\r\n\r\nx\r\n--XX--"},
                    Case{"NoDisposition", "--XX\r\nContent-Type: text/plain\r\n\r\nx\r\n--XX--"},
                    Case{"TwoDispositions", Form("form-data; name=a\r\nContent-Disposition: form-data; name=b")},
                    Case{"TwoTypes", Form("form-data; name=a\r\nContent-Type: a/b\r\nContent-Type: a/c")},
                    Case{"FoldedHeader", Form("form-data;\r\n name=a")}, Case{"Attachment", Form("attachment; name=a")},
                    Case{"NoName", Form("form-data")}, Case{"EmptyName", Form("form-data; name=\"\"")},
                    Case{"TwoNames", Form("form-data; name=a; name=b")},
                    Case{"TwoNamesInOtherCase", Form("form-data; name=a; NAME=b")},
                    Case{"OpenQuote", Form("form-data; name=\"a")}, Case{"NoValue", Form("form-data; name")},
                    Case{"NoSemicolon", Form("form-data; name=\"a\" filename=\"b\"")},
                    Case{"LastSemicolon", Form("form-data; name=\"a\";")},
                    Case{"NulInName", Form(std::string("form-data; name=\"a\0b\"", 21))},
                    Case{"BareReturn", Form("form-data; name=\"a\rb\"")},
                    Case{"EscapeInFileName", Form("form-data; name=a; filename=\"\x1b[2J\"")},
                    Case{"NoUtf8", Form("form-data; name=a; filename=\"\xff\"")},
                    Case{"NulInExtended", Form("form-data; name=a; filename*=UTF-8''%00")},
                    Case{"OtherCharset", Form("form-data; name=a; filename*=ISO-8859-1''x")},
                    Case{"BadEscape", Form("form-data; name=a; filename*=UTF-8''%4")},
                    Case{"Base64", Form("form-data; name=a\r\nContent-Transfer-Encoding: base64")},
                    Case{"LongName", Form("form-data; name=" + std::string(257, 'a'))}),
    [](const auto& each) { return each.param.name; });

TEST(MultipartTest, AnErrorStays) {
  const auto request = RequestOf(kFormA + "x");
  auto reader = MultipartReader::Open(request);
  ASSERT_TRUE(reader);
  EXPECT_TRUE(reader->Next());
  EXPECT_FALSE(reader->Read());
  EXPECT_FALSE(reader->Read());
  EXPECT_FALSE(reader->Next());
}

TEST(MultipartTest, HasLimits) {
  const auto code_of = [](const std::string& body, const MultipartLimits& limits) {
    return ReadForm(RequestOf(body), limits).error().code;
  };
  EXPECT_EQ(code_of(kFormA + "x\r\n" + kFormA + "x\r\n--XX--", {.parts = 1}), base::Code::kTooLarge);
  EXPECT_EQ(code_of(Form("form-data; name=a\r\nX: " + std::string(9000, 'x')), {}), base::Code::kTooLarge);
  EXPECT_EQ(code_of(kFormA + "12345\r\n--XX--", {.part_bytes = 4}), base::Code::kTooLarge);
  std::string many = "form-data; name=a";
  for (int at = 0; at < 16; ++at) many += "\r\nX: 1";
  EXPECT_EQ(code_of(Form(many), {}), base::Code::kTooLarge);
  const auto request = RequestOf(kFormA + "12345\r\n--XX--");
  auto reader = MultipartReader::Open(request);
  ASSERT_TRUE(reader->Next());
  EXPECT_EQ(reader->ReadAll(4).error().code, base::Code::kTooLarge);
}

TEST(MultipartTest, TheTypeHasOneBoundary) {
  for (const char* type : {"", "text/plain", "multipart/mixed; boundary=XX", "multipart/form-data",
                           "multipart/form-data; boundary=", "multipart/form-data; boundary=\"\"",
                           "multipart/form-data; boundary=a; boundary=b", "multipart/form-data; boundary=\"a b\"",
                           "multipart/form-data; boundary=\"a\\\"b\"", "multipart/form-data boundary=XX"})
    EXPECT_FALSE(MultipartReader::Open(RequestOf("--XX--", type))) << type;
  EXPECT_FALSE(MultipartReader::Open(RequestOf("", "multipart/form-data; boundary=" + std::string(71, 'x'))));
  http::Request two = RequestOf("--XX--");
  two.head.headers.Add("content-type", "multipart/form-data; boundary=YY");
  EXPECT_FALSE(MultipartReader::Open(two));
}

}  // namespace
}  // namespace skerry::transport::kit
