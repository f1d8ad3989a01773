// Any bytes as a form (multipart/form-data).
//
// The rules: the parts are the same whether the body is in memory or in a file; a form that is accepted and written
// down again is accepted with the same parts; the cleaned name of a file is one name; limits hold.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.hpp"
#include "os/files.hpp"
#include "transport/kit/multipart.hpp"

namespace {

namespace http = skerry::transport::http;
namespace kit = skerry::transport::kit;

constexpr kit::MultipartLimits kLimits{.parts = 8, .header_bytes = 512, .part_bytes = 4096};

[[noreturn]] void Break(const char* rule) {
  std::fprintf(stderr, "broken: %s\n", rule);
  std::abort();
}

void Require(bool holds, const char* rule) {
  if (!holds) Break(rule);
}

struct Part {
  kit::FormPart head;
  std::string content;
};

struct Form {
  std::vector<Part> parts;
  bool whole = false;
};

http::Request RequestOf(std::string_view type, std::string_view body) {
  http::Request request;
  request.head.headers = {{"Content-Type", std::string(type)}};
  request.body.bytes = body;
  request.body.size = body.size();
  return request;
}

Form Parsed(const http::Request& request, const kit::MultipartLimits& limits = kLimits) {
  Form form;
  auto reader = kit::MultipartReader::Open(request, limits);
  if (!reader) return form;
  for (;;) {
    const auto head = reader->Next();
    if (!head) return form;
    form.whole = !head->has_value();
    if (form.whole) return form;
    const auto content = reader->ReadAll(kLimits.part_bytes);
    if (!content) return form;
    form.parts.push_back({**head, *content});
  }
}

void RequireEqual(const Form& one, const Form& other, const char* rule) {
  Require(one.whole == other.whole && one.parts.size() == other.parts.size(), rule);
  for (std::size_t at = 0; at < one.parts.size(); ++at) {
    const Part& first = one.parts[at];
    const Part& second = other.parts[at];
    Require(first.head.name == second.head.name && first.head.file_name == second.head.file_name &&
                first.head.sent_name == second.head.sent_name && first.content == second.content,
            rule);
  }
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return quoted + "\"";
}

// The form written with the boundary "B", which the fuzzer's forms have too: it is in none of their contents.
std::string Written(const Form& form) {
  std::string text;
  for (const Part& part : form.parts) {
    text += "--B\r\nContent-Disposition: form-data; name=" + Quoted(part.head.name);
    if (part.head.file_name) text += "; filename=" + Quoted(part.head.sent_name);
    text += "\r\n\r\n" + part.content + "\r\n";
  }
  return text + "--B--\r\n";
}

void CheckPart(const Part& part) {
  Require(!part.head.name.empty() && skerry::base::IsValidUtf8(part.head.name), "a part has no name");
  Require(part.content.size() <= kLimits.part_bytes, "a part is larger than it may be");
  const std::string name = part.head.file_name.value_or("");
  Require(name.find_first_of(std::string_view("/\\\0\r\n", 5)) == std::string::npos, "a name with a path");
  Require(name != "." && name != "..", "a name that leads up");
  Require(part.head.sent_name.ends_with(name), "another name than was sent");
}

}  // namespace

// The first byte says how long the Content-Type is; 0 for that of the boundary "B".
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view kType = "multipart/form-data; boundary=B";
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t split = std::min<std::size_t>(data[0], bytes.size());
  const std::string_view type = split == 0 ? kType : bytes.substr(0, split);
  const std::string_view body = bytes.substr(split);
  http::Request request = RequestOf(type, body);
  const Form form = Parsed(request);
  Require(form.parts.size() <= kLimits.parts, "more parts than there may be");
  for (const Part& part : form.parts) CheckPart(part);
  static const skerry::base::UniqueFd kFile = std::move(*skerry::os::NamelessFile("/tmp"));
  Require(::ftruncate(kFile.get(), 0) == 0 &&
              ::pwrite(kFile.get(), body.data(), body.size(), 0) == static_cast<ssize_t>(body.size()),
          "the fuzzer has no file");
  request.body.bytes.clear();
  request.body.file = skerry::base::UniqueFd(::dup(kFile.get()));
  RequireEqual(form, Parsed(request), "the parts depend on where the body lies");
  if (form.whole && split == 0) {
    const std::string written = Written(form);
    RequireEqual(form, Parsed(RequestOf(kType, written), {}), "a form that is written down is another one");
  }
  return 0;
}
