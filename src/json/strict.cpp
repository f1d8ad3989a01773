#include "json/strict.hpp"

#include <algorithm>
#include <utility>

#include "base/printable.hpp"
#include "base/spelling.hpp"
#include "base/utf8.hpp"

namespace skerry::json {
namespace {

using Json = nlohmann::json;

// Builds the value while it is parsed, and stops at the first violation.
class Builder : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(const StrictLimits& limits) : limits_(limits) {}

  bool null() override { return Put(nullptr); }
  bool boolean(bool value) override { return Put(value); }
  bool number_integer(number_integer_t value) override { return Put(value); }
  bool number_unsigned(number_unsigned_t value) override { return Put(value); }
  bool number_float(number_float_t value, const string_t&) override { return Put(value); }
  bool string(string_t& value) override { return Put(std::move(value)); }
  bool binary(binary_t&) override { return Refuse("binary values are not allowed"); }

  bool start_object(std::size_t) override { return Open(Json::object()); }
  bool start_array(std::size_t) override { return Open(Json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    if (open_.back()->contains(name))
      return Refuse("the field \"" + base::Printable(base::Excerpt(name)) + "\" comes twice");
    key_ = std::move(name);
    return Count();
  }

  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    return Refuse("it is no JSON at byte " + std::to_string(position));
  }

  [[nodiscard]] const std::string& problem() const { return problem_; }
  Json Take() { return std::move(root_); }

 private:
  bool Refuse(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    return false;
  }
  bool Count() {
    return ++count_ <= limits_.values || Refuse("it has more than " + std::to_string(limits_.values) + " values");
  }
  Json* Place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    return &(parent[key_] = std::move(value));
  }
  bool Put(Json value) {
    if (!Count()) return false;
    Place(std::move(value));
    return true;
  }
  bool Open(Json empty) {
    if (open_.size() >= limits_.depth)
      return Refuse("it is nested deeper than " + std::to_string(limits_.depth) + " levels");
    if (!Count()) return false;
    open_.push_back(Place(std::move(empty)));
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  StrictLimits limits_;
  Json root_;
  std::vector<Json*> open_;
  std::string key_;
  std::size_t count_ = 0;
  std::string problem_;
};

}  // namespace

base::Result<Json> ParseStrict(std::string_view text, const StrictLimits& limits) {
  if (!base::IsValidUtf8(text)) return base::Err(base::Code::kInvalidArgument, "the JSON is not valid UTF-8");
  // The library's parser would skip the mark and stop at the NUL.
  if (text.starts_with("\xef\xbb\xbf") || text.contains('\0'))
    return base::Err(base::Code::kInvalidArgument, "the JSON holds a byte order mark or a NUL");
  Builder builder(limits);
  if (Json::sax_parse(text, &builder)) return builder.Take();
  return base::Err(base::Code::kInvalidArgument, "the JSON is refused: " + builder.problem());
}

Fields::Fields(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
  if (!object_.is_object())
    error_ =
        base::Error{base::Code::kInvalidArgument, (where_.empty() ? "the request" : where_) + " must be an object"};
}

void Fields::Fail(std::string_view name, const std::string& problem) {
  if (!error_) error_ = base::Error{base::Code::kInvalidArgument, where_ + std::string(name) + " " + problem};
}

const Json* Fields::Take(std::string_view name) {
  asked_.emplace(name);
  if (!object_.is_object()) return nullptr;
  const auto found = object_.find(std::string(name));
  if (found == object_.end()) return nullptr;
  if (found->is_null()) Fail(name, "must not be null; leave it out");
  return found->is_null() ? nullptr : &*found;
}

std::optional<std::string> Fields::Text(std::string_view name, std::size_t longest) {
  const Json* value = Take(name);
  if (value == nullptr) return std::nullopt;
  const auto* text = value->get_ptr<const std::string*>();
  if (text == nullptr) {
    Fail(name, "must be a text");
    return std::nullopt;
  }
  if (text->size() > longest) {
    Fail(name, "is longer than " + std::to_string(longest) + " bytes");
    return std::nullopt;
  }
  return *text;
}

std::optional<std::uint64_t> Fields::Number(std::string_view name, std::uint64_t low, std::uint64_t high) {
  const Json* value = Take(name);
  if (value == nullptr) return std::nullopt;
  const bool fits =
      value->is_number_unsigned() && value->get<std::uint64_t>() >= low && value->get<std::uint64_t>() <= high;
  if (fits) return value->get<std::uint64_t>();
  Fail(name, "must be a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return std::nullopt;
}

std::optional<bool> Fields::Flag(std::string_view name) {
  const Json* value = Take(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  Fail(name, "must be true or false");
  return std::nullopt;
}

std::optional<std::vector<std::string>> Fields::Texts(std::string_view name, std::size_t most, std::size_t longest) {
  const Json* value = Array(name, most);
  if (value == nullptr) return std::nullopt;
  std::vector<std::string> texts;
  for (const Json& item : *value) {
    if (!item.is_string() || item.get_ref<const std::string&>().size() > longest) {
      Fail(name, "must hold texts of at most " + std::to_string(longest) + " bytes");
      return std::nullopt;
    }
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

std::optional<std::map<std::string, std::string>> Fields::Map(std::string_view name, std::size_t most,
                                                              std::size_t longest) {
  const Json* value = Object(name);
  if (value == nullptr) return std::nullopt;
  std::map<std::string, std::string> map;
  for (const auto& [key, item] : value->items()) {
    const bool fits = item.is_string() && item.get_ref<const std::string&>().size() <= longest && key.size() <= longest;
    if (!fits || map.size() >= most) {
      Fail(name,
           "must hold at most " + std::to_string(most) + " texts of at most " + std::to_string(longest) + " bytes");
      return std::nullopt;
    }
    map.emplace(key, item.get<std::string>());
  }
  return map;
}

std::optional<std::string> Fields::Word(std::string_view name, std::span<const std::string_view> words) {
  auto text = Text(name, 64);
  if (!text || std::ranges::find(words, *text) != words.end()) return text;
  std::string all;
  for (const std::string_view word : words) all += (all.empty() ? "" : ", ") + std::string(word);
  Fail(name, "must be one of " + all);
  return std::nullopt;
}

const Json* Fields::Object(std::string_view name) {
  const Json* value = Take(name);
  if (value == nullptr || value->is_object()) return value;
  Fail(name, "must be an object");
  return nullptr;
}

const Json* Fields::Array(std::string_view name, std::size_t most) {
  const Json* value = Take(name);
  if (value == nullptr) return nullptr;
  if (value->is_array() && value->size() <= most) return value;
  Fail(name, "must be a list of at most " + std::to_string(most));
  return nullptr;
}

void Fields::Adopt(Fields& inner) {
  const auto finished = inner.Finish();
  if (!finished && !error_) error_ = finished.error();
}

base::Status Fields::Finish() {
  if (error_) return std::unexpected(*error_);
  for (const auto& [name, value] : object_.items())
    if (!asked_.contains(name)) return NoField(name);
  return {};
}

base::Status Fields::NoField(const std::string& name) const {
  const std::vector<std::string> known(asked_.begin(), asked_.end());
  return base::Err(base::Code::kInvalidArgument, "there is no field " + base::Printable(base::Excerpt(where_ + name)) +
                                                     " here" + base::DidYouMean(name, known) +
                                                     (known.empty() ? "" : "; there are: " + base::Joined(known)));
}

}  // namespace skerry::json
