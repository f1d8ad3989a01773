// RunsView: runs, present and past, for a principal. A `const Run` is for reading; changes to a run are made here.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/views/new_run.hpp"
#include "engine/views/view.hpp"

namespace skerry::engine {

class RunAttachment;

struct RunChanges {
  core::ChangesPage page;
  std::uint64_t left_out = 0;  // changes and notices that the record counts and does not name
};
struct RunNotices {
  core::NoticesPage page;
  std::uint64_t left_out = 0;
};

class RunsView : public View {
 public:
  using RunPointer = std::shared_ptr<const Run>;

  explicit RunsView(const Access& access) : View(access) {}

  // A run with the values of its session, and of the configuration where the session says nothing: to be completed and
  // given to Begin.
  [[nodiscard]] base::Result<NewRun> Draft(RunKind kind, std::optional<SessionHandle> session) const;
  base::Result<StartedRun> Begin(NewRun wanted, Place place) const;

  [[nodiscard]] base::Result<RunPointer> Find(const std::string& id) const;
  [[nodiscard]] base::Result<RunPointer> FindCommand(const SessionHandle& session, const std::string& id) const;
  // The newest first. The tenant of the filter is the principal's, except for admins.
  [[nodiscard]] base::Result<std::vector<RunPointer>> List(core::RunFilter filter) const;
  // The approval that the run waits for, if it does.
  [[nodiscard]] base::Result<std::optional<RunQuestion>> QuestionOf(const Run& run) const;
  // What the run did to files, by the record of its session. None: there is no such record.
  [[nodiscard]] base::Result<std::optional<RunChanges>> Changes(const Run& run, std::uint64_t after,
                                                                std::size_t limit) const;
  [[nodiscard]] base::Result<std::optional<RunNotices>> Notices(const Run& run, core::FileNotice::About about,
                                                                std::uint64_t after, std::size_t limit) const;

  // Asks the run to end.
  base::Result<RunPointer> Cancel(const std::string& id) const;
  // Waits for a program that does not read; kTimeout. `end`: whether these bytes are the last of the input.
  base::Status Feed(const std::string& id, std::string_view bytes, std::optional<bool> end) const;
  base::Status Signal(const std::string& id, int number) const;
  base::Status Resize(const std::string& id, const core::TerminalSize& size) const;
  // Attaches from an offset of the output on. Without `when_left` the run goes on when the client has left.
  base::Result<std::shared_ptr<RunAttachment>> Attach(const std::string& id, std::uint64_t offset,
                                                      std::optional<WhenLeft> when_left) const;

 private:
  friend class RunAttachment;
  [[nodiscard]] base::Status Bound(NewRun& wanted) const;
  [[nodiscard]] base::Result<Begun> Execute(NewRun wanted, Place place) const;
  [[nodiscard]] Deed DeedOf(const char* event, const Run& run, Deed::Weight weight = Deed::Weight::kUsual) const;
  [[nodiscard]] base::Status Send(Run& run, int number) const;
};

}  // namespace skerry::engine
