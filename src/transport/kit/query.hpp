// The query of a request, read strictly. Every error is kInvalidArgument and names the parameter.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "transport/http/dialect.hpp"

namespace skerry::transport::kit {

base::Result<std::uint64_t> NumberOf(const http::Request& request, std::string_view name, std::uint64_t low,
                                     std::uint64_t high, std::uint64_t otherwise);
base::Result<std::string> WordOf(const http::Request& request, std::string_view name,
                                 std::span<const std::string_view> words, std::string_view otherwise);
// The parameter must be there.
base::Result<std::string> TextOf(const http::Request& request, std::string_view name);
// Refuses parameters that are not in the list: a mistyped name must not be ignored.
base::Status OnlyQuery(const http::Request& request, std::initializer_list<std::string_view> names);

}  // namespace skerry::transport::kit
