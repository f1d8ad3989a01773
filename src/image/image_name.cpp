#include "image/image_name.hpp"

#include "base/printable.hpp"

namespace skerry::image {
namespace {

constexpr std::size_t kMaxName = 128;
constexpr std::size_t kMaxFile = 250;  // a file name may have 255 bytes
constexpr std::string_view kFirst = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::string_view kAll = "abcdefghijklmnopqrstuvwxyz0123456789._:/-";
constexpr std::string_view kEnding = ".json";

bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName && kFirst.find(name.front()) != std::string_view::npos &&
         name.find_first_not_of(kAll) == std::string_view::npos && FileOfName(name).size() <= kMaxFile;
}

}  // namespace

base::Status CheckImageName(std::string_view name) {
  if (IsName(name)) return {};
  return base::Err(base::Code::kInvalidArgument,
                   "'" + base::Printable(base::Excerpt(name)) +
                       "' cannot be the name of an image: use up to 128 of a-z 0-9 . _ : / - and begin with a letter "
                       "or a digit, like debian:12");
}

std::string FileOfName(std::string_view name) {
  std::string file;
  for (const char character : name) {
    if (character == '/')
      file += "%2F";
    else if (character == ':')
      file += "%3A";
    else
      file += character;
  }
  return file.append(kEnding);
}

std::optional<std::string> NameOfFile(std::string_view file) {
  if (!file.ends_with(kEnding)) return std::nullopt;
  std::string name;
  for (std::string_view rest = file.substr(0, file.size() - kEnding.size()); !rest.empty();) {
    const bool slash = rest.starts_with("%2F");
    const bool colon = rest.starts_with("%3A");
    name += slash ? '/' : colon ? ':' : rest.front();
    rest.remove_prefix(slash || colon ? 3 : 1);
  }
  if (!IsName(name)) return std::nullopt;
  return name;
}

}  // namespace skerry::image
