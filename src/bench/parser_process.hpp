// An interpreter that is kept running and reports how long its parser takes, without the time of its start.
#pragma once

#include <string>

#include "bench/child.hpp"
#include "bench/samples.hpp"

namespace skerry::bench {

class ParserProcess {
 public:
  // Python parses with `ast.parse`, Node with `new vm.Script`: V8 checks the syntax of functions and compiles them when
  // they are called.
  static base::Result<ParserProcess> StartPython(const std::string& python);
  static base::Result<ParserProcess> StartNode(const std::string& node);

  // Reads the file and then, timed, parses its text. kExecutionFailed when the text does not parse; the process has
  // ended then.
  base::Result<Sample> Parse(const std::string& path);

 private:
  explicit ParserProcess(Child child) : child_(std::move(child)) {}
  Child child_;
};

}  // namespace skerry::bench
