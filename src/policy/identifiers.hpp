// Spellings of an identifier that a language reads as the same one.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "policy/budget.hpp"

namespace skerry::policy {

bool IsAscii(std::string_view text);

// Letters that Unicode's NFKC makes ASCII letters (full width, mathematical, superscript …), as Python reads them.
std::string FoldLookalikes(std::string_view identifier);

// `\u0065val` and `\u{65}val`, as JavaScript reads them.
std::string UnescapedIdentifier(std::string_view identifier);

// The usual spelling of identifiers; keeps those that were written in another one.
class Spellings {
 public:
  using Reader = std::string (*)(std::string_view);
  Spellings(Reader read, Budget& budget) : read_(read), budget_(budget), memory_(budget) {}
  Spellings(const Spellings&) = delete;
  Spellings& operator=(const Spellings&) = delete;

  // The usual spelling of an identifier. It lives as long as both this object and `identifier`.
  std::string_view Normal(std::string_view identifier);

 private:
  Reader read_;
  Budget& budget_;
  HeldMemory memory_;
  std::map<std::string, std::string, std::less<>> kept_;
};

}  // namespace skerry::policy
