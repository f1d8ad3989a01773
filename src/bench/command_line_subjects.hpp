// `skerry run` as a subject of the benchmark: the command line without a daemon.
#pragma once

#include <string>
#include <vector>

#include "bench/subject.hpp"

namespace skerry::bench {

// `program` is the path of skerry. One subject for each group of programs that the command line can run.
std::vector<Subject> CommandLineSubjects(const std::string& program);

}  // namespace skerry::bench
