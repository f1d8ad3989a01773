#include "store/form_fields.hpp"

namespace skerry::store {

const Form& ObjectIn(const Form& form, std::string_view name) {
  static const Form kNone = Form::object();
  const auto found = form.find(name);
  return found != form.end() && found->is_object() ? *found : kNone;
}

const Form& ListIn(const Form& form, std::string_view name) {
  static const Form kNone = Form::array();
  const auto found = form.find(name);
  return found != form.end() && found->is_array() ? *found : kNone;
}

std::string Text(const Form& value) {
  return value.is_string() ? value.get<std::string>() : "";
}

std::string TextIn(const Form& form, std::string_view name) {
  const auto found = form.find(name);
  return found == form.end() ? "" : Text(*found);
}

std::vector<std::string> TextsIn(const Form& form, std::string_view name) {
  const Form& list = ListIn(form, name);
  std::vector<std::string> texts;
  texts.reserve(list.size());
  for (const Form& text : list) texts.push_back(Text(text));
  return texts;
}

bool FlagIn(const Form& form, std::string_view name) {
  const auto found = form.find(name);
  return found != form.end() && found->is_boolean() && found->get<bool>();
}

double RealIn(const Form& form, std::string_view name) {
  const auto found = form.find(name);
  return found != form.end() && found->is_number() ? found->get<double>() : 0;
}

std::vector<core::WithheldFile> WithheldIn(const Form& form, std::string_view name) {
  const Form& list = ListIn(form, name);
  std::vector<core::WithheldFile> files;
  files.reserve(list.size());
  for (const Form& file : list) files.push_back({.path = TextIn(file, "path"), .reason = TextIn(file, "reason")});
  return files;
}

std::vector<core::LimitReached> LimitsIn(const Form& form, std::string_view name) {
  const Form& list = ListIn(form, name);
  std::vector<core::LimitReached> limits;
  limits.reserve(list.size());
  for (const Form& reached : list)
    limits.push_back({.name = TextIn(reached, "name"),
                      .limit = IntegerIn<std::uint64_t>(reached, "limit"),
                      .unit = TextIn(reached, "unit")});
  return limits;
}

base::Code CodeNamed(std::string_view name) {
  for (const base::CodeRow& row : base::CodeTable())
    if (row.name == name) return row.code;
  return base::Code::kInternal;
}

}  // namespace skerry::store
