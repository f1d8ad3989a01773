// Fields of a stored form. A field that is missing or of another kind has its default: a damaged row must not keep
// anybody from reading the others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "core/execution.hpp"

namespace skerry::store {

using Form = nlohmann::json;

// The field, or an empty object.
const Form& ObjectIn(const Form& form, std::string_view name);
// The field, or an empty array.
const Form& ListIn(const Form& form, std::string_view name);
std::string Text(const Form& value);
std::string TextIn(const Form& form, std::string_view name);
std::vector<std::string> TextsIn(const Form& form, std::string_view name);
bool FlagIn(const Form& form, std::string_view name);
double RealIn(const Form& form, std::string_view name);
std::vector<core::WithheldFile> WithheldIn(const Form& form, std::string_view name);
std::vector<core::LimitReached> LimitsIn(const Form& form, std::string_view name);
base::Code CodeNamed(std::string_view name);

template <class Number>
Number Integer(const Form& value) {
  if (value.is_number_unsigned()) return static_cast<Number>(value.get<std::uint64_t>());
  return value.is_number_integer() ? static_cast<Number>(value.get<std::int64_t>()) : Number{};
}

template <class Number>
Number IntegerIn(const Form& form, std::string_view name) {
  const auto found = form.find(name);
  return found == form.end() ? Number{} : Integer<Number>(*found);
}

}  // namespace skerry::store
