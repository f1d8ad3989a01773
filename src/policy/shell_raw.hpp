// Commands in a text of the shell by its letters alone: for what stands inside a word, and where the parser gave up.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skerry::policy {

struct RawCommand {
  std::vector<std::string_view> words;    // as written, with their quotes
  std::uint32_t begin = 0;                // in the text
  bool piped = false;                     // reads what the command before writes
  std::string_view here_string;           // the word behind <<<
  std::string_view here_document;         // the lines behind <<
  std::vector<std::string_view> targets;  // of redirects that write
};

// Called for the commands in their order. Commands inside of words are not listed. The visitor says whether to go on.
using RawVisitor = std::function<bool(const RawCommand& command)>;
void ForEachRaw(std::string_view text, const RawVisitor& visit);

// The place behind the `)`, `}` or backtick that closes what was opened in front of `at`; the text's size when nothing
// closes it.
std::size_t SkipParentheses(std::string_view text, std::size_t at);
std::size_t SkipBraces(std::string_view text, std::size_t at);
std::size_t SkipBackticks(std::string_view text, std::size_t at);

// The text between backticks without the backslashes that hide characters there.
std::string WithoutBacktickEscapes(std::string_view text);

// The texts inside of $(…), `…`, <(…) and >(…) of a word; with kPlain of lines in which a single quote is only a
// character, as in a here-document.
enum class SingleQuotes : std::uint8_t { kHide, kPlain };
std::vector<std::string_view> SubstitutionsIn(std::string_view word, SingleQuotes quotes = SingleQuotes::kHide);

}  // namespace skerry::policy
