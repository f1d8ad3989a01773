#include "engine/recorder.hpp"

#include <algorithm>

#include "base/ids.hpp"

namespace skerry::engine {
namespace {

base::Error NotRecorded(const base::Error& error) {
  return {error.code, "cannot be recorded: " + error.message +
                          "; with sandbox.record.required set to false it is done all the same"};
}

// Keeps as many from the beginning as there is room for, and counts the others.
template <class T>
void Bound(std::vector<T>& files, std::uint64_t& room, std::uint64_t& left_out) {
  const auto end = std::ranges::find_if(files, [&](const T& file) {
    const std::uint64_t weight = core::WeightOf(file);
    if (weight > room) return true;
    room -= weight;
    return false;
  });
  left_out += static_cast<std::uint64_t>(files.end() - end);
  files.erase(end, files.end());
}

}  // namespace

base::Result<core::RecordStore*> Recorder::Store() const {
  if (options_.store != nullptr) return options_.store.get();
  const base::Error error{base::Code::kUnavailable, options_.problem};
  SKERRY_RETURN_IF_ERROR(Tell(std::unexpected(error)));
  return nullptr;
}

base::Status Recorder::Tell(const base::Status& status) const {
  if (status) return {};
  if (options_.recording == Recording::kRequired) return std::unexpected(NotRecorded(status.error()));
  if (options_.warn) options_.warn("not recorded: " + status.error().message);
  return {};
}

base::Result<std::string> Recorder::Begin(core::ExecutionRecord execution) const {
  if (execution.id.empty()) execution.id = base::RandomId("x");
  execution.by = options_.by;
  execution.started_at = std::chrono::system_clock::now();
  SKERRY_ASSIGN_OR_RETURN(core::RecordStore * store, Store());
  if (store == nullptr) return execution.id;
  const auto sequence = store->BeginExecution(execution);
  if (!sequence) SKERRY_RETURN_IF_ERROR(Tell(std::unexpected(sequence.error())));
  return execution.id;
}

base::Status Recorder::End(const std::string& session, const std::string& id, core::ExecutionEnd end) const {
  if (options_.told && !end.changes.empty()) options_.told(session, id, end.changes);
  if (options_.store == nullptr) return {};  // Begin has reported that
  end.ended_at = std::chrono::system_clock::now();
  if (std::uint64_t room = options_.most_of_execution; room != 0) {
    // A quarter of the room is for notices, so that many changes leave room for them, and the other way round.
    const std::uint64_t of_notices = room / 4;
    std::uint64_t left = of_notices;
    Bound(end.notices, left, end.left_out);
    room -= of_notices - left;
    Bound(end.changes, room, end.left_out);
    Bound(end.uses, room, end.left_out);
  }
  const auto ended = options_.store->EndExecution(id, end);
  // The execution could not be begun in the store: Begin has reported that.
  if (!ended && ended.error().code == base::Code::kNotFound) return {};
  return Tell(ended);
}

}  // namespace skerry::engine
