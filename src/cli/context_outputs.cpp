#include "cli/context_outputs.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include <nlohmann/json.hpp>

#include "base/unique_fd.hpp"
#include "cli/terminal.hpp"
#include "json/base64.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

struct FileForm {
  const char* mime;
  const char* extension;
  bool is_base64;
};
constexpr std::array kFileForms = {FileForm{"image/png", ".png", true}, FileForm{"image/jpeg", ".jpg", true},
                                   FileForm{"image/svg+xml", ".svg", false}, FileForm{"text/html", ".html", false}};

std::string TextOf(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string PlainFormOf(const Json& forms) {
  if (forms.contains("text/plain")) return TextOf(forms, "text/plain");
  std::string names;
  for (const auto& [mime, data] : forms.items()) names += (names.empty() ? "" : ", ") + mime;
  return "<" + names + ">";
}

base::Status WriteFile(int directory, const std::string& name, const std::string& bytes) {
  (void)::unlinkat(directory, name.c_str(), 0);
  const base::UniqueFd file(::openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                                     S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH));
  if (!file.valid()) return os::ErrnoErr("write " + name);
  return os::WriteAll(file.get(), bytes);
}

}  // namespace

bool PrintOutputs(const Json& result, Shown shown) {
  const auto shown_on = [&](int fd, const std::string& text) {
    return shown == Shown::kRaw ? text : ForDescriptor(fd, text);
  };
  bool read = true;
  for (const Json& output : result.value("outputs", Json::array()))
    read = read && Print(shown_on(STDOUT_FILENO, PlainFormOf(output.value("data", Json::object()))) + "\n");
  std::string traceback = TextOf(result, "traceback");
  if (!traceback.empty() && !traceback.ends_with('\n')) traceback += '\n';
  (void)os::WriteAll(STDERR_FILENO, shown_on(STDERR_FILENO, traceback));
  return read;
}

base::Status SaveOutputs(const Json& result, const std::string& directory) {
  if (::mkdir(directory.c_str(), S_IRWXU | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH) < 0 && errno != EEXIST)
    return os::ErrnoErr("make directory " + directory);
  const base::UniqueFd place(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!place.valid()) return os::ErrnoErr("directory " + directory);
  const std::string stem =
      TextOf(result, "context") + "-" + std::to_string(result.value("cell", std::uint64_t{0})) + "-";
  int number = 0;
  for (const Json& output : result.value("outputs", Json::array())) {
    ++number;
    const Json forms = output.value("data", Json::object());
    for (const FileForm& form : kFileForms) {
      const std::string data = TextOf(forms, form.mime);
      if (data.empty()) continue;
      const auto bytes = form.is_base64 ? json::FromBase64(data) : data;
      const std::string name = stem + std::to_string(number) + form.extension;
      if (bytes) SKERRY_RETURN_IF_ERROR(WriteFile(place.get(), name, *bytes));
    }
  }
  return {};
}

}  // namespace skerry::cli
