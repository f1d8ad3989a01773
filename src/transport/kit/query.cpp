#include "transport/kit/query.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/printable.hpp"

namespace skerry::transport::kit {

base::Status OnlyQuery(const http::Request& request, std::initializer_list<std::string_view> names) {
  for (const auto& [name, value] : request.head.query.fields())
    if (std::ranges::find(names, name) == names.end())
      return base::Err(base::Code::kInvalidArgument,
                       "there is no query parameter " + base::Printable(base::Excerpt(name)) + " here");
  return {};
}

base::Result<std::uint64_t> NumberOf(const http::Request& request, std::string_view name, std::uint64_t low,
                                     std::uint64_t high, std::uint64_t otherwise) {
  const auto text = request.head.query.Find(name);
  if (!text) return otherwise;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error == std::errc() && end == text->data() + text->size() && value >= low && value <= high) return value;
  return base::Err(base::Code::kInvalidArgument, std::string(name) + " must be a whole number from " +
                                                     std::to_string(low) + " to " + std::to_string(high));
}

base::Result<std::string> WordOf(const http::Request& request, std::string_view name,
                                 std::span<const std::string_view> words, std::string_view otherwise) {
  const auto text = request.head.query.Find(name);
  if (!text) return std::string(otherwise);
  if (std::ranges::find(words, *text) != words.end()) return *text;
  std::string all;
  for (const std::string_view word : words) all += (all.empty() ? "" : ", ") + std::string(word);
  return base::Err(base::Code::kInvalidArgument, std::string(name) + " must be one of " + all);
}

base::Result<std::string> TextOf(const http::Request& request, std::string_view name) {
  auto text = request.head.query.Find(name);
  if (text) return *std::move(text);
  return base::Err(base::Code::kInvalidArgument, "the query parameter " + std::string(name) + " is missing");
}

}  // namespace skerry::transport::kit
