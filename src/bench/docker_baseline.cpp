// docker run and docker exec, with an image made from this machine's files: nothing is pulled.
#include <unistd.h>

#include <memory>
#include <utility>

#include "bench/candidate.hpp"
#include "bench/docker_image.hpp"
#include "bench/workloads.hpp"

namespace skerry::bench {
namespace {

// An image and a container that waits in it; the destructor removes both. The container ends by itself after an hour,
// in case this process is killed.
class DockerPlace {
 public:
  DockerPlace(std::string docker, std::string name) : docker_(std::move(docker)), name_(std::move(name)) {}
  DockerPlace(const DockerPlace&) = delete;
  DockerPlace& operator=(const DockerPlace&) = delete;
  ~DockerPlace() {
    (void)OutputOf(Docker({"rm", "--force", name_}));
    (void)OutputOf(Docker({"image", "rm", "--force", name_}));
  }

  [[nodiscard]] base::Status Fill(const std::vector<std::string>& files) const {
    constexpr const char* kImport = R"(docker=$1 image=$2; shift 2
tar --create --dereference --exclude=dist-packages --exclude=site-packages \
    --exclude='python3*/test' --directory / -- "$@" | "$docker" import - "$image")";
    Command command{{"/bin/sh", "-c", kImport, "sh", docker_, name_}, CallersEnvironment()};
    for (const std::string& file : files) command.arguments.push_back(file.substr(file.find_first_not_of('/')));
    SKERRY_RETURN_IF_ERROR(OutputOf(command));
    SKERRY_RETURN_IF_ERROR(OutputOf(
        Docker({"run", "--detach", "--rm", "--network", "none", "--name", name_, name_, "/bin/sleep", "3600"})));
    return {};
  }

  // Without a network, as a sandbox: a container with a network takes longer to start.
  [[nodiscard]] Command Run(std::vector<std::string> program) const {
    program.insert(program.begin(), {"run", "--rm", "--network", "none", name_});
    return Docker(std::move(program));
  }

  [[nodiscard]] Command Exec(std::vector<std::string> program) const {
    program.insert(program.begin(), {"exec", name_});
    return Docker(std::move(program));
  }

 private:
  [[nodiscard]] Command Docker(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), docker_);
    return {std::move(arguments), CallersEnvironment()};
  }

  std::string docker_;
  std::string name_;
};

base::Result<std::shared_ptr<const DockerPlace>> MakePlace(const Interpreters& interpreters) {
  const auto docker = FindProgram("docker");
  if (!docker) return base::Err(base::Code::kNotFound, "docker: not installed");
  if (!OutputOf({{*docker, "version", "--format", "{{.Server.Version}}"}, CallersEnvironment()}))
    return base::Err(base::Code::kUnavailable, "docker: no engine answers");
  auto place = std::make_shared<const DockerPlace>(*docker, "skerry-bench-" + std::to_string(::getpid()));
  SKERRY_RETURN_IF_ERROR(place->Fill(ImageFiles(interpreters.python)));
  return place;
}

// Not tried beforehand: a trial would take half a minute.
void AddHundred(Baselines& baselines, const std::shared_ptr<const DockerPlace>& place) {
  const Workload& workload = *FindWorkload("hundred");
  const Command command = place->Run({"/bin/sh", "-c", std::string(workload.code)});
  baselines.subjects.push_back(
      {.group = std::string(workload.group),
       .name = "docker run",
       .detail = std::to_string(kHundred) + " x " + CommandLine(command),
       .run = [place, command, output = workload.output] { return TimeTogether(command, kHundred, output); }});
}

}  // namespace

void AddDockerBaselines(Baselines& baselines, const Interpreters& interpreters) {
  const auto made = MakePlace(interpreters);
  if (!made) {
    LeaveOut(baselines, "docker run", {"python", "cold", "hundred"}, made.error().message);
    return LeaveOut(baselines, "docker exec", {"python", "shell"}, made.error().message);
  }
  const std::shared_ptr<const DockerPlace>& place = *made;
  if (interpreters.python) {
    AddCandidate(baselines, {"python", "docker run", place->Run({*interpreters.python, "-c", "print(1)"}), place});
    AddCandidate(baselines, {"python", "docker exec", place->Exec({*interpreters.python, "-c", "print(1)"}), place});
  }
  AddCandidate(baselines, {"shell", "docker exec", place->Exec({"/bin/sh", "-c", "echo 1"}), place});
  AddCandidate(baselines, {"cold", "docker run", place->Run({"/bin/true"}), place});
  AddHundred(baselines, place);
}

}  // namespace skerry::bench
