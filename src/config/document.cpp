#include "config/document.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "base/utf8.hpp"
#include "config/check.hpp"

namespace skerry::config {
namespace {

constexpr int kNumberOverflow = 406;  // nlohmann: out_of_range.406

std::string Position(std::string_view text, std::size_t read) {
  const std::string_view before = text.substr(0, std::min(read == 0 ? 0 : read - 1, text.size()));
  const auto line = std::ranges::count(before, '\n') + 1;
  const auto line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(before.size() - line_start + 1);
}

// "[…] parse error at line 1, column 2: syntax error …; last read: '…'" → "syntax error …".
std::string SyntaxProblem(const nlohmann::json::exception& problem) {
  if (problem.id == kNumberOverflow) return "number too large";
  constexpr std::string_view kStart = ": ";
  std::string_view text = problem.what();
  text.remove_prefix(std::min(text.find(kStart), text.size() - kStart.size()) + kStart.size());
  return std::string(text.substr(0, text.find("; last read")));
}

// Builds the value itself, because the library's own parser keeps the last of two equal keys without a word.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(std::string_view text) : text_(text) {}

  base::Result<Json> Finish() && {
    if (!error_.empty()) return Refused("", error_);
    return std::move(root_);
  }

  bool null() override { return Add(nullptr); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(number_integer_t value) override { return Add(value); }
  bool number_unsigned(number_unsigned_t value) override { return Add(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return Add(value); }
  bool string(string_t& value) override { return Add(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return Fail("binary is not JSON"); }
  bool start_object(std::size_t /*elements*/) override { return Open(Json::object()); }
  bool end_object() override { return Close(); }
  bool start_array(std::size_t /*elements*/) override { return Open(Json::array()); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    Level& level = levels_.back();
    level.key = std::move(name);
    return !level.value.contains(level.key) || Fail(Path() + ": given twice");
  }

  bool parse_error(std::size_t read, const std::string& /*token*/, const nlohmann::json::exception& problem) override {
    return Fail(Position(text_, read) + ": " + SyntaxProblem(problem));
  }

 private:
  struct Level {
    Json value;
    std::string key;
  };

  bool Fail(std::string problem) {
    error_ = std::move(problem);
    return false;
  }

  bool Add(Json value) {
    if (levels_.empty()) {
      root_ = std::move(value);
    } else if (Level& level = levels_.back(); level.value.is_array()) {
      level.value.push_back(std::move(value));
    } else {
      level.value[level.key] = std::move(value);
    }
    return true;
  }

  bool Open(Json empty) {
    if (levels_.size() == kMaxDepth)
      return Fail("nested too deep, allowed are " + std::to_string(kMaxDepth) + " levels");
    levels_.push_back({std::move(empty), ""});
    return true;
  }

  bool Close() {
    Json value = std::move(levels_.back().value);
    levels_.pop_back();
    return Add(std::move(value));
  }

  std::string Path() const {
    std::string path;
    for (const Level& level : levels_) {
      if (level.value.is_array()) path += "[]";
      if (level.value.is_object()) path = JoinPath(path, base::Excerpt(level.key));
    }
    return path;
  }

  std::string_view text_;
  std::vector<Level> levels_;
  Json root_;
  std::string error_;
};

}  // namespace

base::Result<Json> ParseDocument(std::string_view text) {
  if (!base::IsValidUtf8(text)) return Refused("", "not valid UTF-8");
  // The library takes a NUL byte for the end of the text and would not look at what follows.
  if (text.contains('\0')) return Refused("", "contains a NUL byte");
  Builder builder(text);
  constexpr bool kStrict = true;
  constexpr bool kIgnoreComments = true;
  Json::sax_parse(text, &builder, Json::input_format_t::json, kStrict, kIgnoreComments);
  return std::move(builder).Finish();
}

}  // namespace skerry::config
