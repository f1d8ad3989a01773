#include "core/record.hpp"

#include <array>
#include <utility>

#include "core/names.hpp"

namespace skerry::core {
namespace {

template <class E>
using Name = std::pair<E, std::string_view>;

constexpr std::array kActions = {
    Name<FileAction>{FileAction::kCreated, "created"},
    Name<FileAction>{FileAction::kChanged, "changed"},
    Name<FileAction>{FileAction::kRemoved, "removed"},
};
constexpr std::array kKinds = {
    Name<FileKind>{FileKind::kFile, "file"},
    Name<FileKind>{FileKind::kLink, "link"},
};
constexpr std::array kHows = {
    Name<FileUse::How>{FileUse::How::kRead, "read"},
    Name<FileUse::How>{FileUse::How::kNamed, "named"},
};
constexpr std::array kAbouts = {
    Name<FileNotice::About>{FileNotice::About::kWithheld, "withheld"},
    Name<FileNotice::About>{FileNotice::About::kToReview, "to_review"},
};
constexpr std::array kStates = {
    Name<ExecutionState>{ExecutionState::kRunning, "running"},
    Name<ExecutionState>{ExecutionState::kDone, "done"},
    Name<ExecutionState>{ExecutionState::kLost, "lost"},
};

}  // namespace

std::string_view NameOf(FileAction action) {
  return NameIn(kActions, action);
}

std::string_view NameOf(FileKind kind) {
  return NameIn(kKinds, kind);
}

std::string_view NameOf(FileUse::How how) {
  return NameIn(kHows, how);
}

std::string_view NameOf(FileNotice::About about) {
  return NameIn(kAbouts, about);
}

std::string_view NameOf(ExecutionState state) {
  return NameIn(kStates, state);
}

std::optional<FileAction> ParseFileAction(std::string_view name) {
  return ValueIn(kActions, name);
}

std::optional<FileKind> ParseFileKind(std::string_view name) {
  return ValueIn(kKinds, name);
}

std::optional<FileUse::How> ParseHow(std::string_view name) {
  return ValueIn(kHows, name);
}

std::optional<FileNotice::About> ParseAbout(std::string_view name) {
  return ValueIn(kAbouts, name);
}

std::optional<ExecutionState> ParseExecutionState(std::string_view name) {
  return ValueIn(kStates, name);
}

}  // namespace skerry::core
