#include "transport/v1/signals.hpp"

#include <array>
#include <csignal>
#include <utility>

namespace skerry::transport::v1 {

std::optional<int> SignalNumber(std::string_view name) {
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
  for (const auto& [row, number] : kSignals)
    if (row == name) return number;
  return std::nullopt;
}

}  // namespace skerry::transport::v1
