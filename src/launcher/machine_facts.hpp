// What a launcher finds out about its machine once, and not for every sandbox again.
#pragma once

#include <linux/filter.h>

#include <list>
#include <optional>
#include <span>
#include <vector>

#include "base/deadline.hpp"
#include "launcher/root_template.hpp"
#include "os/cgroup_hierarchy.hpp"
#include "os/seccomp.hpp"

namespace skerry::launcher {

inline constexpr char kCgroupPrefix[] = "skerry-";

class MachineFacts {
 public:
  MachineFacts();

  [[nodiscard]] int landlock_abi() const { return landlock_abi_; }

  // Where cgroups can be made. The first call also removes the cgroups that earlier launchers left when they were
  // killed (J25).
  const os::CgroupHierarchy& Cgroups();

  // The mount namespace of the template for sandboxes that fit it, or -1 where there is none: a plain user cannot have
  // one. Built at the first call, and again when the host's files that it shows were replaced (a moment later).
  int RootTemplateFor();
  // The number of the present template: another one each time a template was built.
  [[nodiscard]] unsigned template_number() const { return template_number_; }

  // The seccomp filter for these options. It is compiled at the first call and stays where it is.
  std::span<const sock_filter> Filter(const os::FilterOptions& options);

 private:
  struct Compiled {
    os::FilterOptions options;
    std::vector<sock_filter> program;
  };

  int landlock_abi_ = 0;
  std::optional<os::CgroupHierarchy> cgroups_;
  std::list<Compiled> filters_;
  std::optional<RootTemplate> template_;
  base::Deadline next_template_look_ = base::Deadline::After({});
  unsigned template_number_ = 0;
  bool template_failed_ = false;
};

}  // namespace skerry::launcher
