#include "config/spelling.hpp"

namespace skerry::config {
namespace {

bool IsUpper(char letter) {
  return letter >= 'A' && letter <= 'Z';
}

}  // namespace

std::string SnakeCase(std::string_view camel_case) {
  std::string snake_case;
  for (const char letter : camel_case) {
    if (IsUpper(letter)) snake_case += '_';
    snake_case += IsUpper(letter) ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  return snake_case;
}

}  // namespace skerry::config
