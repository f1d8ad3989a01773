// skerry doctor: what this machine offers, and what each lack costs.
#include <memory>

#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "cli/command.hpp"
#include "cli/terminal.hpp"
#include "core/backend_registry.hpp"
#include "interpreters/interpreter.hpp"
#include "json/text.hpp"
#include "os/machine.hpp"

namespace skerry::cli {
namespace {

struct Check {
  std::string name;
  bool ok = false;
  std::string detail;
  std::string cost;  // when the check failed: what that means and what to do
  bool required = false;
};

Check KernelCheck(const os::Machine& machine) {
  return {"kernel", os::ParseKernelVersion(machine.kernel_release) >= os::KernelVersion{5, 15},
          machine.kernel_release + " " + machine.architecture, "Skerry is made for Linux 5.15 and newer", true};
}

std::vector<Check> IsolationChecks(const os::Machine& machine) {
  const std::string landlock =
      machine.landlock_abi > 0 ? "ABI " + std::to_string(machine.landlock_abi) : "not in this kernel";
  return {
      {"user namespaces", machine.user_namespaces, machine.user_namespaces ? "may be made" : "refused",
       "no native sandbox: allow them with sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces, or "
       "kernel.apparmor_restrict_unprivileged_userns=0",
       true},
      {"seccomp", machine.seccomp, machine.seccomp ? "filters with kill" : "missing",
       "no native sandbox: the kernel needs CONFIG_SECCOMP_FILTER", true},
      {"landlock", machine.landlock_abi > 0, landlock,
       "the second fence around files, sockets and signals is missing; add landlock to the lsm= boot parameter"},
      {"overlay in user namespaces", machine.overlay_in_user_namespace,
       machine.overlay_in_user_namespace ? "may be mounted" : "refused",
       "strict mode refuses --workspace; permissive mode lets programs write to the directory itself"},
      {"id-mapped mounts", machine.id_mapped_mounts || !machine.is_root,
       machine.is_root ? "for --workspace as root" : "not needed: the sandbox is your own user",
       "as root, a person's directory can be used only as far as it is open to everybody"},
  };
}

std::vector<Check> LimitChecks(const os::Machine& machine) {
  const auto detail = [](bool there) { return there ? "may be set" : "not available to this user"; };
  return {
      {"cgroup memory", machine.cgroup_memory, detail(machine.cgroup_memory),
       "memory is watched every 10 ms instead of limited by the kernel; root gets the limit"},
      {"cgroup pids", machine.cgroup_pids, detail(machine.cgroup_pids),
       "processes are counted by RLIMIT_NPROC of the sandbox's user namespace instead"},
      {"cgroup cpu", machine.cgroup_cpu, detail(machine.cgroup_cpu), "no share of the CPU is kept for others"},
      {"cgroup kill", machine.cgroup_kill, detail(machine.cgroup_kill),
       "the end of the pid namespace ends everything inside instead"},
  };
}

std::vector<Check> InterpreterChecks() {
  std::vector<Check> checks;
  for (const core::Language language : {core::Language::kPython, core::Language::kJavaScript, core::Language::kShell}) {
    const auto path = interpreters::FindInterpreter(language);
    checks.push_back({std::string(core::NameOf(language)), path.has_value(), path.value_or("not found"),
                      "code in this language cannot run; install " + interpreters::Requirement(language)});
  }
  return checks;
}

std::vector<Check> BackendChecks(const core::BackendRegistry& registry) {
  std::vector<Check> checks;
  constexpr std::chrono::seconds kPatience{30};
  for (core::Backend* backend : registry.All()) {
    const core::Availability availability = backend->Probe(base::Deadline::After(kPatience));
    checks.push_back({"backend " + std::string(backend->Name()), availability.usable, availability.detail,
                      "see the rows above for the cause", backend->Can().strength >= core::Strength::kNamespaces});
  }
  return checks;
}

base::Result<std::vector<Check>> AllChecks(const Context& context) {
  SKERRY_ASSIGN_OR_RETURN(const config::Loaded loaded, context.LoadConfig());
  SKERRY_ASSIGN_OR_RETURN(const auto registry, context.Backends(loaded.config.sandbox));
  const os::Machine machine = os::Machine::Probe();
  std::vector<Check> checks = {KernelCheck(machine), {"user", true, machine.is_root ? "root" : "plain user", ""}};
  for (auto& part : {IsolationChecks(machine), LimitChecks(machine), InterpreterChecks(), BackendChecks(*registry)})
    checks.insert(checks.end(), part.begin(), part.end());
  return checks;
}

std::string AsText(const std::vector<Check>& checks) {
  std::string text;
  for (const Check& check : checks) {
    constexpr std::size_t kColumn = 28;
    text += (check.ok         ? "ok   "
             : check.required ? "FAIL "
                              : "weak ") +
            check.name + std::string(check.name.size() < kColumn ? kColumn - check.name.size() : 1, ' ') +
            base::Printable(check.detail) + "\n";
    if (!check.ok) text += "       → " + check.cost + "\n";
  }
  return text;
}

std::string AsJson(const std::vector<Check>& checks, bool usable) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Check& check : checks) {
    nlohmann::ordered_json row = {
        {"name", check.name}, {"ok", check.ok}, {"required", check.required}, {"detail", check.detail}};
    if (!check.ok) row["cost"] = check.cost;
    rows.push_back(std::move(row));
  }
  const nlohmann::ordered_json object = {{"usable", usable}, {"checks", std::move(rows)}};
  return json::IndentedText(object);
}

base::Result<int> Examine(const Context& context, bool json) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<Check> checks, AllChecks(context));
  bool usable = true;
  for (const Check& check : checks) usable = usable && (check.ok || !check.required);
  Print(json ? AsJson(checks, usable) : AsText(checks));
  if (!json)
    Print(usable ? "\nThis machine can run sandboxes in strict mode.\n" : "\nStrict mode refuses to run here.\n");
  return usable ? 0 : base::RowOf(base::Code::kUnavailable).exit_code;
}

}  // namespace

Command DoctorCommand(const Context& context) {
  auto json = std::make_shared<bool>(false);
  return {.name = "doctor",
          .description = "Say what this machine offers and what each missing thing costs",
          .options = {{.names = "--json", .description = "As an object", .to = json.get()}},
          .action = [=, &context] { return Examine(context, *json); }};
}

}  // namespace skerry::cli
