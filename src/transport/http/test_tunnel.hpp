// A server with two dialects whose routes lead to programs, for tests of tunnels.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "transport/http/test_program.hpp"
#include "transport/http/test_server.hpp"

namespace skerry::transport::http {

// One dialect by the host `{port}-{id}.example.test`, one by the path /proxy/{port}/. Both identify callers by
// X-Access-Token.
class TunnelTest : public ServerTest, public testing::WithParamInterface<StreamKind> {
 protected:
  TunnelTest();
  ~TunnelTest() override { server.reset(); }

  // Starts the server, with a program behind it.
  void Start(TestProgram::Talk talk);
  // The head of a request to the program, over TCP with a token.
  [[nodiscard]] std::string To(const std::string& target, const std::string& more = "",
                               const std::string& method = "GET") const;
  Answer Ask(const std::string& target, const std::string& more = "") { return Tcp().Ask(To(target, more)); }

  std::unique_ptr<TestProgram> program;
  Headers more_headers;  // added by the handlers
  std::string other_host;
};

}  // namespace skerry::transport::http
