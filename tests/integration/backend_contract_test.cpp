// The three backends of this version against the one contract.
#include "support/backend_contract.hpp"

#include "backends/fake/fake_backend.hpp"
#include "backends/native/native_backend.hpp"
#include "backends/subprocess/subprocess_backend.hpp"

namespace skerry::support {
namespace {

launcher::ProgramPaths Programs() {
  return launcher::ProgramPaths::BesideThisProgram().value();  // tests and programs share one directory
}

BackendMaker Fake() {
  return {.name = "fake", .make = [] { return std::make_unique<backends::fake::FakeBackend>(); }};
}

BackendMaker Native() {
  const auto make = [] { return std::make_unique<backends::native::NativeBackend>(Programs()); };
  return {.name = "native", .make = make, .unavailable = [make] {
            const core::Availability availability = make()->Probe();
            return availability.usable ? std::string() : availability.detail;
          }};
}

BackendMaker Subprocess() {
  return {.name = "subprocess",
          .make = [] { return std::make_unique<backends::subprocess::SubprocessBackend>(Programs(), "/tmp"); }};
}

INSTANTIATE_TEST_SUITE_P(Backends, BackendContractTest, testing::Values(Fake(), Native(), Subprocess()),
                         [](const auto& information) { return information.param.name; });

}  // namespace
}  // namespace skerry::support
