// What a command prints on stdout, and how it ends.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json_fwd.hpp>

#include "archive/byte_sink.hpp"
#include "base/result.hpp"

namespace skerry::cli {

enum class Form { kText, kJson };
// The exit code. An error is printed on stderr, with kJson as an object on stdout too.
int Conclude(const base::Result<int>& result, Form form);
// One line; valid JSON whatever strings it holds.
base::Status WriteJson(const nlohmann::ordered_json& object);
base::Status WriteText(const std::string& text);

// Bytes to stdout. That the reader has left is not reported as an error.
class StdoutSink : public archive::ByteSink {
 public:
  base::Status Write(std::string_view bytes) override;
  // 0 after success; the code of an end by SIGPIPE when the reader has left; else the error.
  [[nodiscard]] base::Result<int> ExitCode(const base::Status& status) const;

 private:
  bool reader_left_ = false;
};

// {"name": [item, item], the rest}, written item by item, however many there are.
class JsonStream {
 public:
  JsonStream(archive::ByteSink& sink, std::string name) : sink_(sink), name_(std::move(name)) {}
  base::Status Add(const nlohmann::ordered_json& item);
  // `rest` is an object that is not empty.
  base::Status End(const nlohmann::ordered_json& rest);

 private:
  archive::ByteSink& sink_;
  std::string name_;
  bool begun_ = false;
};

// A line of a foreign text: printable, with its tabs.
std::string PrintableLine(std::string_view line);

}  // namespace skerry::cli
