#include "bench/parser_process.hpp"

#include <charconv>

#include "base/printable.hpp"
#include "bench/command.hpp"

namespace skerry::bench {
namespace {

// Each line of input is the path of a file, and each line of output the nanoseconds for parsing its text.
constexpr const char* kPython = R"python(
import ast, sys, time
for line in sys.stdin:
    with open(line.rstrip("\n"), encoding="utf-8") as file:
        text = file.read()
    began = time.perf_counter_ns()
    ast.parse(text)
    print(time.perf_counter_ns() - began, flush=True)
)python";

// A text that was compiled before comes from a cache: the added comment makes the text a new one.
constexpr const char* kNode = R"node(
const fs = require('fs'), vm = require('vm');
let count = 0;
require('readline').createInterface({ input: process.stdin }).on('line', (path) => {
  const text = fs.readFileSync(path, 'utf8') + '\n// ' + count++;
  const began = process.hrtime.bigint();
  new vm.Script(text);
  console.log(String(process.hrtime.bigint() - began));
});
)node";

constexpr std::chrono::seconds kPatience{60};

base::Result<Sample> ParseAnswer(const std::string& line) {
  long long nanoseconds = 0;
  const char* const end = line.data() + line.size();
  const auto parsed = std::from_chars(line.data(), end, nanoseconds);
  if (parsed.ec != std::errc() || parsed.ptr != end || nanoseconds < 0)
    return base::Err(base::Code::kExecutionFailed, "the parser answered '" + base::Printable(line) + "'");
  return Sample{.total = Duration(nanoseconds)};
}

}  // namespace

base::Result<ParserProcess> ParserProcess::StartPython(const std::string& python) {
  SKERRY_ASSIGN_OR_RETURN(Child child, Child::Spawn({{python, "-c", kPython}, PlainEnvironment()}, Input::kPipe));
  return ParserProcess(std::move(child));
}

base::Result<ParserProcess> ParserProcess::StartNode(const std::string& node) {
  SKERRY_ASSIGN_OR_RETURN(Child child, Child::Spawn({{node, "-e", kNode}, PlainEnvironment()}, Input::kPipe));
  return ParserProcess(std::move(child));
}

base::Result<Sample> ParserProcess::Parse(const std::string& path) {
  SKERRY_RETURN_IF_ERROR(child_.Write(path + "\n"));
  SKERRY_ASSIGN_OR_RETURN(const std::string line, child_.ReadLine(base::Deadline::After(kPatience)));
  return ParseAnswer(line);
}

}  // namespace skerry::bench
