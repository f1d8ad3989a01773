#include "config/load.hpp"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/scratch_home.hpp"

namespace skerry::config {
namespace {

using testing::IsEmpty;
using testing::StartsWith;

Sandbox DefaultSandbox() {
  return Load({}).value().config.sandbox;
}

std::string OriginOf(const Loaded& loaded, std::string_view path) {
  const auto found = std::ranges::find(loaded.entries, path, &Entry::path);
  return found == loaded.entries.end() ? "" : found->origin;
}

TEST(LoadTest, DefaultsOfTheSandbox) {
  const Sandbox sandbox = DefaultSandbox();
  EXPECT_TRUE(sandbox.enabled);
  EXPECT_EQ(sandbox.backend, "native");
  EXPECT_EQ(sandbox.mode, LifeMode::kPerSession);
  EXPECT_EQ(sandbox.security, SecurityMode::kStrict);
  EXPECT_EQ(sandbox.confirm, ConfirmFrom::kHigh);
  EXPECT_FALSE(sandbox.reject_as_confirmation);
  EXPECT_THAT(sandbox.network.allowed_domains, IsEmpty());
  EXPECT_THAT(sandbox.network.denied_domains, IsEmpty());
  EXPECT_FALSE(sandbox.network.allow_local_binding);
  EXPECT_THAT(sandbox.filesystem.deny_read, IsEmpty());
  EXPECT_THAT(sandbox.filesystem.allow_write, IsEmpty());
  EXPECT_THAT(sandbox.filesystem.deny_write, IsEmpty());
  EXPECT_TRUE(sandbox.runtime.cleanup_on_exit);
  EXPECT_EQ(sandbox.runtime.timeout.count(), 300);
}

TEST(LoadTest, DefaultsOfTheLimits) {
  const Limits limits = DefaultSandbox().limits;
  EXPECT_EQ(limits.timeout.count(), 30);
  EXPECT_EQ(limits.max_memory_mb, 512);
  EXPECT_EQ(limits.max_output_mb, 10);
  EXPECT_EQ(limits.max_stream_mb, 100);
  EXPECT_EQ(limits.max_pids, 256);
  EXPECT_EQ(limits.max_open_files, 1024);
  EXPECT_EQ(limits.max_file_mb, 1024);
  EXPECT_EQ(limits.tmp_mb, 64);
}

TEST(LoadTest, DefaultsOfWorkspaceAndPool) {
  const Sandbox sandbox = DefaultSandbox();
  EXPECT_EQ(sandbox.workspace.base_dir, "~/.skerry/workspaces");
  EXPECT_EQ(sandbox.workspace.max_size_mb, 1024);
  EXPECT_EQ(sandbox.workspace.cleanup_after.count(), 24);
  EXPECT_EQ(sandbox.pool.max_instances, 10);
  EXPECT_EQ(sandbox.pool.min_instances, 2);
  EXPECT_EQ(sandbox.pool.idle_timeout.count(), 300);
  EXPECT_EQ(sandbox.pool.max_use_count, 100);
  EXPECT_EQ(sandbox.pool.cleanup_interval.count(), 60);
}

TEST(LoadTest, DefaultsOfTheBackends) {
  const Backends backends = DefaultSandbox().backends;
  EXPECT_EQ(backends.srt.settings_path, "~/.skerry/srt-settings.json");
  EXPECT_EQ(backends.docker.image, "python:3.11-slim");
  EXPECT_EQ(backends.docker.network_mode, "none");
  EXPECT_EQ(backends.aio.base_url, "http://localhost:8080");
  EXPECT_EQ(backends.aio.api_key, "");
  const OpenSandbox& opensandbox = backends.opensandbox;
  EXPECT_EQ(opensandbox.mode, OpenSandboxMode::kLocal);
  EXPECT_EQ(opensandbox.local.server_url, "http://localhost:8080");
  EXPECT_EQ(opensandbox.vke.server.default_image, "opensandbox/code-interpreter:v1.0.1");
  EXPECT_EQ(opensandbox.vke.kubernetes_namespace, "skerry");
  EXPECT_TRUE(opensandbox.vke.tos.enabled);
  EXPECT_EQ(opensandbox.vke.tos.mount_path, "/tos");
  EXPECT_EQ(opensandbox.runtime.cpu, "500m");
  EXPECT_EQ(opensandbox.runtime.memory, "1Gi");
  EXPECT_EQ(opensandbox.runtime.timeout.count(), 300);
}

TEST(LoadTest, EveryChoiceHasAValueOfItsOwn) {
  const auto with = [](const char* path, const char* value) {
    return Load({.config_path = {}, .home = "", .environment = {}, .overrides = {{path, value, "-f"}}})
        .value()
        .config.sandbox;
  };
  EXPECT_EQ(with("sandbox.mode", "per-session").mode, LifeMode::kPerSession);
  EXPECT_EQ(with("sandbox.mode", "shared").mode, LifeMode::kShared);
  EXPECT_EQ(with("sandbox.mode", "disabled").mode, LifeMode::kDisabled);
  EXPECT_EQ(with("sandbox.security", "permissive").security, SecurityMode::kPermissive);
  EXPECT_EQ(with("sandbox.confirm", "critical").confirm, ConfirmFrom::kCritical);
  EXPECT_EQ(with("sandbox.confirm", "never").confirm, ConfirmFrom::kNever);
  EXPECT_EQ(with("sandbox.opensandbox.mode", "vke").backends.opensandbox.mode, OpenSandboxMode::kVke);
}

TEST(LoadTest, LaterSourceWins) {
  const ScratchHome home;
  Sources sources = home.SourcesHere();
  const auto timeout = [&] { return Load(sources).value().config.sandbox.limits.timeout.count(); };
  EXPECT_EQ(timeout(), 30);
  home.Write(R"({"sandbox": {"limits": {"timeout": 31}}})");
  EXPECT_EQ(timeout(), 31);
  sources.environment = {"NANOBOT_SANDBOX__LIMITS__TIMEOUT=32"};
  EXPECT_EQ(timeout(), 32);
  sources.environment.emplace_back("SKERRY_SANDBOX__LIMITS__TIMEOUT=33");
  EXPECT_EQ(timeout(), 33);
  sources.overrides = {{"sandbox.limits.timeout", "34", "--timeout"}};
  EXPECT_EQ(timeout(), 34);
}

TEST(LoadTest, OriginsAreKept) {
  const ScratchHome home;
  home.Write(R"({"sandbox": {"backend": "srt", "limits": {"max_pids": 5}}})");
  Sources sources = home.SourcesHere();
  sources.environment = {"SKERRY_SANDBOX__MODE=shared"};
  sources.overrides = {{"sandbox.limits.timeout", "5", "--timeout"}};
  const Loaded loaded = Load(sources).value();
  EXPECT_EQ(OriginOf(loaded, "sandbox.limits.maxPids"), "file ~/.skerry/config.json");
  EXPECT_EQ(OriginOf(loaded, "sandbox.mode"), "variable SKERRY_SANDBOX__MODE");
  EXPECT_EQ(OriginOf(loaded, "sandbox.limits.timeout"), "flag --timeout");
  EXPECT_EQ(OriginOf(loaded, "sandbox.enabled"), "default");
}

TEST(LoadTest, LayersReplaceAList) {
  const ScratchHome home;
  home.Write(R"({"sandbox": {"network": {"allowedDomains": ["a.org", "b.org"]}}})");
  Sources sources = home.SourcesHere();
  sources.environment = {"SKERRY_SANDBOX__NETWORK__ALLOWED_DOMAINS=c.org"};
  EXPECT_THAT(Load(sources).value().config.sandbox.network.allowed_domains, testing::ElementsAre("c.org"));
}

TEST(LoadTest, NamedFileReplacesTheDefaultOne) {
  const ScratchHome home;
  const ScratchHome other;
  home.Write(R"({"sandbox": {"backend": "srt"}})");
  other.Write(R"({"sandbox": {"limits": {"timeout": 5}}})");
  Sources sources = home.SourcesHere();
  sources.config_path = other.config_path();
  const Loaded loaded = Load(sources).value();
  EXPECT_EQ(loaded.config.sandbox.backend, "native");
  EXPECT_EQ(OriginOf(loaded, "sandbox.limits.timeout"), "file " + other.config_path());
}

TEST(LoadTest, NamedFileMustExist) {
  const ScratchHome home;
  Sources sources = home.SourcesHere();
  EXPECT_TRUE(Load(sources).has_value());
  sources.config_path = "~/nowhere.json";
  EXPECT_EQ(Load(sources).error().message, home.path() + "/nowhere.json: no such file");
}

TEST(LoadTest, NamedFileIsPrintable) {
  EXPECT_THAT(Load({.config_path = "/no\x1b[2J", .home = "", .environment = {}, .overrides = {}}).error().message,
              StartsWith("/no\\u001b[2J: "));
}

TEST(LoadTest, DocumentsOfTheOlderProgramAreRead) {
  const ScratchHome home;
  home.Write(R"({
    "sandbox": {
      "enabled": true, "backend": "opensandbox", "mode": "per-session",
      "filesystem": {"denyRead": ["~/.ssh", "~/.gnupg"], "allowWrite": ["~/.vikingbot/workspace"],
                     "denyWrite": [".env", "*.pem"]},
      "backends": {"docker": {"image": "python:3.11-slim", "networkMode": "bridge"}},
      "opensandbox": {
        "mode": "vke",  // "local" or "vke"
        "vke": {"serverUrl": "http://opensandbox-server.vikingbot.svc.cluster.local:8080", "apiKey": "k",
                "namespace": "vikingbot", "kubeconfigPath": "~/.kube/config",
                "tos": {"enabled": true, "mountPath": "/tos", "pvcName": "vikingbot-tos-pvc"}},
        "network": {"allowedDomains": [], "deniedDomains": []},
        "runtime": {"timeout": 300, "cpu": "500m", "memory": "1Gi"}
      }
    }
  })");
  const auto loaded = Load(home.SourcesHere());
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  EXPECT_EQ(loaded->config.sandbox.backends.opensandbox.vke.server.api_key, "k");
  EXPECT_EQ(loaded->config.sandbox.backends.docker.network_mode, "bridge");
  EXPECT_EQ(loaded->config.sandbox.filesystem.deny_write.size(), 2U);
}

TEST(LoadTest, PoolMinimumIsNotAboveItsMaximum) {
  Sources sources;
  sources.overrides = {{"sandbox.pool.maxInstances", "1", "--pool"}};
  EXPECT_EQ(Load(sources).error().message,
            "sandbox.pool.minInstances: 2 (default) is more than sandbox.pool.maxInstances, which is 1");
  sources.overrides.push_back({"sandbox.pool.minInstances", "1", "--pool-min"});
  EXPECT_TRUE(Load(sources).has_value());
}

}  // namespace
}  // namespace skerry::config
