#include "engine/views/signals.hpp"

#include <array>
#include <csignal>
#include <utility>

namespace skerry::engine {
namespace {

constexpr std::array<std::pair<std::string_view, int>, 10> kSignals = {{{"INT", SIGINT},
                                                                        {"TERM", SIGTERM},
                                                                        {"KILL", SIGKILL},
                                                                        {"HUP", SIGHUP},
                                                                        {"QUIT", SIGQUIT},
                                                                        {"USR1", SIGUSR1},
                                                                        {"USR2", SIGUSR2},
                                                                        {"WINCH", SIGWINCH},
                                                                        {"STOP", SIGSTOP},
                                                                        {"CONT", SIGCONT}}};

}  // namespace

std::optional<int> SignalNumber(std::string_view name) {
  for (const auto& [row, number] : kSignals)
    if (row == name) return number;
  return std::nullopt;
}

std::string_view SignalName(int number) {
  for (const auto& [name, row] : kSignals)
    if (row == number) return name;
  return "";
}

}  // namespace skerry::engine
