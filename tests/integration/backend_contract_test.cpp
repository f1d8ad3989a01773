// Every backend of this version against the one contract.
#include "support/backend_contract.hpp"

#include "backends/fake/fake_backend.hpp"
#include "backends/native/native_backend.hpp"
#include "backends/remote_fake/remote_fake_backend.hpp"
#include "backends/subprocess/subprocess_backend.hpp"
#include "support/company_contract.hpp"

namespace skerry::support {
namespace {

launcher::ProgramPaths Programs() {
  return launcher::ProgramPaths::BesideThisProgram().value();  // tests and programs share one directory
}

BackendMaker Fake() {
  return {.name = "fake", .make = [] { return std::make_unique<backends::fake::FakeBackend>(); }};
}

// The native backend with and without interpreters that are forked into sandboxes.
BackendMaker Native(std::string name, backends::native::NativeBackend::Zygotes zygotes) {
  const auto make = [zygotes] {
    return std::make_unique<backends::native::NativeBackend>(Programs(), base::FeatureSet{}, zygotes);
  };
  return {.name = std::move(name), .make = make, .unavailable = [make] {
            const core::Availability availability = make()->Probe(base::Deadline::Never());
            return availability.usable ? std::string() : availability.detail;
          }};
}

BackendMaker Subprocess() {
  return {.name = "subprocess",
          .make = [] { return std::make_unique<backends::subprocess::SubprocessBackend>(Programs(), "/tmp"); }};
}

// With the latency of a remote service for each call.
BackendMaker RemoteFake() {
  return {.name = "remote_fake", .make = [] {
            return std::make_unique<backends::remote_fake::RemoteFakeBackend>(
                std::make_shared<backends::remote_fake::Server>());
          }};
}

const auto kBackends =
    testing::Values(Fake(), RemoteFake(), Native("native", backends::native::NativeBackend::Zygotes::kNone),
                    Native("native_forking", backends::native::NativeBackend::Zygotes::kPython), Subprocess());
constexpr auto kNameOf = [](const auto& information) { return information.param.name; };
INSTANTIATE_TEST_SUITE_P(Backends, BackendContractTest, kBackends, kNameOf);
INSTANTIATE_TEST_SUITE_P(Backends, FilesContractTest, kBackends, kNameOf);
INSTANTIATE_TEST_SUITE_P(Backends, CompanyContractTest, kBackends, kNameOf);

}  // namespace
}  // namespace skerry::support
