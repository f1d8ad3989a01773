#include "net/lookup.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <atomic>
#include <system_error>
#include <thread>
#include <utility>

#include "base/printable.hpp"
#include "base/unique_fd.hpp"

namespace skerry::net {
namespace {

constexpr int kMostAtOnce = 64;
std::atomic<int> under_way = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): of the whole process

// Question: shared by the thread that waits and the thread that looks up; the last of them frees it.
struct Question {
  std::string host;
  std::string port;
  int flags = 0;
  base::UniqueFd answered = base::UniqueFd(::eventfd(0, EFD_CLOEXEC));
  std::atomic<bool> over = false;  // until then `error` and `found` belong to the thread that looks up
  int error = 0;
  Addresses found{nullptr, ::freeaddrinfo};

  void Answer() {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV | flags;
    addrinfo* list = nullptr;
    error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &list);
    found.reset(list);
  }
};

base::Result<Addresses> AnswerTo(Question& question) {
  if (question.error == 0) return std::move(question.found);
  return base::Err(base::Code::kUnavailable,
                   "cannot find the host " + base::Printable(question.host) + ": " + ::gai_strerror(question.error));
}

void AnswerElsewhere(const std::shared_ptr<Question>& question) {
  std::thread([question] {
    question->Answer();
    question->over = true;
    --under_way;
    ::eventfd_write(question->answered.get(), 1);
  }).detach();
}

base::Result<Addresses> AskInThread(const Endpoint& endpoint, const std::shared_ptr<Question>& question,
                                    Patience& patience) {
  if (!question->answered.valid())
    return base::Err(base::Code::kUnavailable, "no descriptor is left to look up a host");
  if (++under_way > kMostAtOnce) {
    --under_way;
    return base::Err(base::Code::kUnavailable, "too many names of hosts are looked up already");
  }
  try {
    AnswerElsewhere(question);
  } catch (const std::system_error& thrown) {
    --under_way;
    return base::Err(base::Code::kUnavailable, std::string("no thread can be started: ") + thrown.what());
  }
  if (!patience.Await(question->answered.get(), POLLIN) || !question->over) return patience.Fault(endpoint.called);
  return AnswerTo(*question);
}

}  // namespace

base::Result<Addresses> Lookup(const Endpoint& endpoint, Patience& patience) {
  const auto question = std::make_shared<Question>();
  question->host = endpoint.host;
  question->port = std::to_string(endpoint.port);
  question->flags = AI_NUMERICHOST;
  question->Answer();  // an address in digits needs no resolver
  if (question->error == 0) return AnswerTo(*question);
  question->flags = 0;
  if (!patience.IsEndless()) return AskInThread(endpoint, question, patience);
  question->Answer();
  return AnswerTo(*question);
}

}  // namespace skerry::net
