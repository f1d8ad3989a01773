// The settings of the risk policy and of the questions, as options of the engine.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "cli/tty.hpp"
#include "config/config.hpp"
#include "confirm/terminal_confirmation.hpp"
#include "engine/consent.hpp"
#include "engine/gate.hpp"

namespace skerry::cli {

// An error names the setting: a rule that does not exist.
base::Result<policy::PolicyOptions> PolicyOptionsOf(const config::Sandbox& sandbox);

// Notes on stderr tell what the organisation's rules have lowered. Without a service that asks.
base::Result<engine::GateOptions> GateOptionsOf(const config::Sandbox& sandbox);

// Asks at the terminal.
class AskAtTerminal : public confirm::ConfirmationService {
 public:
  AskAtTerminal() : asking_(tty_) {}
  confirm::Answer Ask(const confirm::Question& question, base::Deadline deadline, std::stop_token stop) override {
    return asking_.Ask(question, deadline, std::move(stop));
  }

 private:
  Tty tty_;
  confirm::TerminalConfirmation asking_;
};

// Whom `skerry run` asks: the person at the terminal, or nobody with --yes.
std::shared_ptr<confirm::ConfirmationService> ConfirmationFor(engine::Consent consent);

}  // namespace skerry::cli
