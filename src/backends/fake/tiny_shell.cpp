#include "backends/fake/tiny_shell.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <ranges>
#include <sstream>

namespace skerry::backends::fake {
namespace {

using core::Arguments;
using core::Outcome;

std::uint64_t Number(const std::string& text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// A path in the workspace; "" for any other, since tests give this shell commands that nobody should run.
std::string PathOf(std::string_view word) {
  for (const std::string_view prefix : {"/workspace/", "./"})
    if (word.starts_with(prefix)) word.remove_prefix(prefix.size());
  for (const auto part : std::views::split(word, '/')) {
    const std::string_view name(part.begin(), part.end());
    if (name.empty() || name == "." || name == ".." || name == "~") return "";
  }
  return std::string(word);
}

bool IsNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

class Program {
 public:
  explicit Program(const TinySurroundings& around) : around_(around) {}

  base::Result<Outcome> RunText(std::string text) {
    for (std::size_t at = 0; (at = text.find("&&", at)) != std::string::npos;) text.replace(at, 2, ";");
    std::ranges::replace(text, ';', '\n');
    std::istringstream lines(text);
    Outcome last;
    for (std::string line; std::getline(lines, line) && !exited_;) {
      std::istringstream stream(line);
      Arguments words;
      for (std::string word; stream >> word;) words.push_back(Expanded(word));
      if (words.empty()) continue;
      SKERRY_ASSIGN_OR_RETURN(last, RunWords(std::move(words)));
      if (last.kind != core::OutcomeKind::kExited) break;
    }
    return last;
  }

  base::Result<Outcome> RunWords(Arguments words) {
    std::string target;
    auto how = TinyFiles::How::kReplace;
    const auto arrow = std::ranges::find_if(words, [](const std::string& word) { return word == ">" || word == ">>"; });
    if (arrow != words.end() && arrow + 1 != words.end()) {
      how = *arrow == ">>" ? TinyFiles::How::kAppend : TinyFiles::How::kReplace;
      target = PathOf(*(arrow + 1));
      words.erase(arrow, words.end());
      if (target.empty()) return Done(false);
    }
    if (words.empty()) return base::Err(base::Code::kInvalidArgument, "there is no command to run");
    if (target.empty()) return Run(words, around_.write);
    std::string kept;
    SKERRY_ASSIGN_OR_RETURN(Outcome outcome, Run(words, [&](core::Stream, std::string_view bytes) { kept += bytes; }));
    if (!around_.files.Write(target, kept, how)) outcome.exit_code = 1;
    return outcome;
  }

 private:
  using Write = std::function<void(core::Stream, std::string_view)>;

  base::Result<Outcome> Run(const Arguments& words, const Write& write) {
    const std::string& name = words.front();
    if (name == "true") return Outcome{};
    if (name == "false") return Outcome{.exit_code = 1};
    if (name == "echo") return Echo(words, write);
    if (name == "cat") return Cat(words, write);
    if (name == "ls") return List(write);
    if (name == "sleep" && words.size() == 2)
      return around_.sleep(std::chrono::seconds(Number(words[1]))).value_or(Outcome{});
    if (name == "head" && words.size() == 4) return Zeros(Number(words[2]), write);
    if (name == "exit") {
      exited_ = true;
      return Outcome{.exit_code = words.size() > 1 ? static_cast<int>(Number(words[1])) : 0};
    }
    if (words.size() > 1) {
      const std::string path = PathOf(words.back());
      if (path.empty()) return Done(false);
      if (name == "touch") return Done(around_.files.Write(path, "", TinyFiles::How::kAppend));
      if (name == "rm") return Done(around_.files.Remove(path));
      if (name == "mkdir") return Done(around_.files.MakeDirectory(path));
    }
    if (const std::size_t equal = name.find('='); words.size() == 1 && equal != std::string::npos) {
      around_.variables[name.substr(0, equal)] = name.substr(equal + 1);
      return Outcome{};
    }
    return base::Err(base::Code::kNotFound, "not found in the sandbox: " + name);
  }

  static Outcome Done(bool done) { return {.exit_code = done ? 0 : 1}; }

  [[nodiscard]] std::string Expanded(const std::string& word) const {
    std::string text;
    for (std::size_t at = 0; at < word.size();) {
      if (word[at] != '$') {
        text += word[at++];
        continue;
      }
      const std::size_t begin = ++at;
      while (at < word.size() && IsNameCharacter(word[at])) ++at;
      const auto found = around_.variables.find(word.substr(begin, at - begin));
      if (found != around_.variables.end()) text += found->second;
    }
    return text;
  }

  static Outcome Echo(const Arguments& words, const Write& write) {
    std::string line;
    for (std::size_t i = 1; i < words.size(); ++i) line += (i == 1 ? "" : " ") + words[i];
    write(core::Stream::kStdout, line + "\n");
    return {};
  }

  Outcome Cat(const Arguments& words, const Write& write) {
    for (const std::string& word : words | std::views::drop(1)) {
      const auto text = around_.files.Read(PathOf(word));
      if (!text) {
        write(core::Stream::kStderr, "cat: " + word + ": No such file or directory\n");
        return {.exit_code = 1};
      }
      write(core::Stream::kStdout, *text);
    }
    if (words.size() > 1) return {};
    for (;;) {
      const auto bytes = around_.read();
      if (!bytes) return around_.sleep({}).value_or(Outcome{});
      if (bytes->empty()) return {};
      write(core::Stream::kStdout, *bytes);
    }
  }

  Outcome List(const Write& write) {
    for (const std::string& name : around_.files.Names()) write(core::Stream::kStdout, name + "\n");
    return {};
  }

  static Outcome Zeros(std::uint64_t count, const Write& write) {
    const std::string block(65536, '\0');
    for (std::uint64_t done = 0; done < count; done += block.size())
      write(core::Stream::kStdout, std::string_view(block).substr(0, count - done));
    return {};
  }

  const TinySurroundings& around_;
  bool exited_ = false;
};

}  // namespace

base::Result<Outcome> RunTinyProgram(const std::variant<core::Code, core::Arguments>& program,
                                     const TinySurroundings& around) {
  Program shell(around);
  if (const auto* words = std::get_if<Arguments>(&program)) return shell.RunWords(*words);
  return shell.RunText(std::get<core::Code>(program).text);
}

}  // namespace skerry::backends::fake
