// What the tests of the service store share.
#pragma once

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "store/record_fixture.hpp"
#include "store/sqlite_service_store.hpp"

namespace skerry::store {

inline core::RunRecord ARun(const std::string& id, const std::string& session = "", const std::string& tenant = "t") {
  core::RunRecord run;
  run.id = id;
  run.session = session;
  run.tenant = tenant;
  run.kind = "execute";
  run.state = core::RunState::kRunning;
  run.created_at = At(0);
  return run;
}

inline core::IdempotencyClaim AClaim(const std::string& key, const std::string& tenant = "t") {
  return {.tenant = tenant, .key = key, .request_sha256 = std::string(64, 'b')};
}

class ServiceTest : public RecordTest {
 protected:
  std::unique_ptr<SqliteServiceStore> OpenService() {
    auto store = SqliteServiceStore::Open(Path(), {.busy_timeout = std::chrono::seconds(20)});
    if (!store) {
      ADD_FAILURE() << store.error().message;
      std::abort();
    }
    return std::move(*store);
  }
};

}  // namespace skerry::store
