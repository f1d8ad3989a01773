// A cell in a Jupyter kernel: what people use today for stateful Python.
#include <charconv>
#include <memory>
#include <string>
#include <utility>

#include "bench/candidate.hpp"
#include "bench/workloads.hpp"

namespace skerry::bench {
namespace {

// Starts a kernel and prints `ready`. Then each line of its input is a cell to run, and each line that it prints is the
// nanoseconds from sending the cell to having its value, the kernel's `idle` and its reply.
constexpr const char* kClient = R"python(
import sys, time
from jupyter_client.manager import start_new_kernel
manager, client = start_new_kernel(startup_timeout=60)

def of_type(message, kind, request):
    return message["msg_type"] == kind and message["parent_header"].get("msg_id") == request

def cell(code):
    began = time.perf_counter_ns()
    request = client.execute(code)
    value = None
    while True:
        message = client.get_iopub_msg(timeout=30)
        if of_type(message, "execute_result", request):
            value = message["content"]["data"]["text/plain"]
        if of_type(message, "status", request) and message["content"]["execution_state"] == "idle":
            break
    while not of_type(client.get_shell_msg(timeout=30), "execute_reply", request):
        pass
    return time.perf_counter_ns() - began, value

try:
    print("ready", flush=True)
    for line in sys.stdin:
        took, value = cell(line.strip())
        print(took, value, flush=True)
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
)python";

constexpr std::chrono::seconds kStartPatience{90};
constexpr std::chrono::seconds kCellPatience{60};
constexpr std::chrono::seconds kEndPatience{15};

// The time in "8700123 2", when the value is the expected one.
base::Result<Sample> ParseAnswer(const std::string& line, std::string_view expected) {
  long long nanoseconds = 0;
  const auto parsed = std::from_chars(line.data(), line.data() + line.size(), nanoseconds);
  const std::string_view value(parsed.ptr, line.data() + line.size());
  if (parsed.ec != std::errc() || nanoseconds < 0 || value != " " + std::string(expected))
    return base::Err(base::Code::kExecutionFailed, "the kernel answered '" + line + "'");
  return Sample{.total = Duration(nanoseconds)};
}

class Kernel {
 public:
  explicit Kernel(Child child) : child_(std::move(child)) {}
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  // The client ends its kernel when its input ends; a killed client could not.
  ~Kernel() {
    child_.CloseInput();
    (void)child_.Finish(base::Deadline::After(kEndPatience));
  }

  base::Result<Sample> Run(const Workload& workload) {
    SKERRY_RETURN_IF_ERROR(child_.Write(std::string(workload.code) + "\n"));
    SKERRY_ASSIGN_OR_RETURN(const std::string line, child_.ReadLine(base::Deadline::After(kCellPatience)));
    return ParseAnswer(line, workload.output);
  }

 private:
  Child child_;
};

base::Result<std::shared_ptr<Kernel>> StartKernel(const std::string& python) {
  SKERRY_ASSIGN_OR_RETURN(Child child, Child::Spawn({{python, "-c", kClient}, CallersEnvironment()}, Input::kPipe));
  auto kernel_ready = child.ReadLine(base::Deadline::After(kStartPatience));
  if (!kernel_ready) return std::unexpected(std::move(kernel_ready).error());
  return std::make_shared<Kernel>(std::move(child));
}

// The sandbox's interpreter first; otherwise the one in the caller's PATH.
std::optional<std::string> PythonWithIpykernel(const Interpreters& interpreters) {
  for (const auto& python : {interpreters.python, FindProgram("python3")})
    if (python && OutputOf({{*python, "-c", "import ipykernel, jupyter_client"}, CallersEnvironment()})) return python;
  return std::nullopt;
}

}  // namespace

void AddIpykernelBaseline(Baselines& baselines, const Interpreters& interpreters) {
  const Workload& workload = *FindWorkload("cell");
  const auto leave_out = [&](const std::string& reason) {
    LeaveOut(baselines, "ipykernel", {std::string(workload.group)}, reason);
  };
  const auto python = PythonWithIpykernel(interpreters);
  if (!python) return leave_out("ipykernel: not installed");
  auto kernel = StartKernel(*python);
  if (!kernel) return leave_out(kernel.error().message);
  if (const auto tried = (*kernel)->Run(workload); !tried) return leave_out(tried.error().message);
  baselines.subjects.push_back({.group = std::string(workload.group),
                                .name = "ipykernel",
                                .detail = *python + ", jupyter_client to a kernel",
                                .run = [kernel = *kernel, &workload] { return kernel->Run(workload); }});
}

}  // namespace skerry::bench
