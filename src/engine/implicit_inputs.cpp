#include "engine/implicit_inputs.hpp"

#include <algorithm>
#include <array>

namespace skerry::engine {
namespace {

using Name = std::string_view;

constexpr auto kMake = std::to_array<Name>({"GNUmakefile", "makefile", "Makefile", "BSDmakefile"});
constexpr auto kNode = std::to_array<Name>({"package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnp.cjs",
                                            "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "pnpm-workspace.yaml",
                                            ".pnpmfile.cjs", "bunfig.toml", "tsconfig.json"});
constexpr auto kNodeTools = std::to_array<Name>(
    {"package.json",         "tsconfig.json",        ".babelrc",           ".babelrc.js",      "babel.config.js",
     "jest.config.js",       "jest.config.ts",       "jest.setup.js",      "vitest.config.js", "vitest.config.ts",
     "vite.config.js",       "vite.config.ts",       ".mocharc.js",        ".mocharc.json",    ".mocharc.yml",
     "webpack.config.js",    "rollup.config.js",     ".eslintrc.js",       ".eslintrc.json",   "eslint.config.js",
     "eslint.config.mjs",    ".prettierrc.js",       "prettier.config.js", "next.config.js",   "next.config.mjs",
     "playwright.config.js", "playwright.config.ts", "Gruntfile.js",       "gulpfile.js"});
constexpr auto kPython =
    std::to_array<Name>({"conftest.py", "tests/conftest.py", "test/conftest.py", "pytest.ini", ".pytest.ini",
                         "pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "noxfile.py", "tasks.py", "fabfile.py",
                         "requirements.txt", "Pipfile", "poetry.lock", "uv.lock", "uv.toml", "manage.py", "mypy.ini"});
constexpr auto kContainers = std::to_array<Name>(
    {"Dockerfile", "Containerfile", ".dockerignore", "docker-compose.yml", "docker-compose.yaml", "compose.yml",
     "compose.yaml", "docker-compose.override.yml", "compose.override.yaml", "docker-bake.hcl", ".env"});
constexpr auto kCargo =
    std::to_array<Name>({"Cargo.toml", "Cargo.lock", "build.rs", ".cargo/config.toml", ".cargo/config", "src/main.rs",
                         "src/lib.rs", "rust-toolchain", "rust-toolchain.toml"});
constexpr auto kGo = std::to_array<Name>({"go.mod", "go.sum", "go.work", "main.go"});
constexpr auto kCmake = std::to_array<Name>(
    {"CMakeLists.txt", "CMakePresets.json", "CMakeUserPresets.json", "CTestTestfile.cmake", "build/CTestTestfile.cmake",
     "build.ninja", "build/build.ninja", "meson.build", "meson_options.txt", "SConstruct", "wscript"});
constexpr auto kJava = std::to_array<Name>(
    {"pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle.properties",
     "gradle/wrapper/gradle-wrapper.properties", "gradle/wrapper/gradle-wrapper.jar", "build.xml", "build.sbt",
     "project/build.properties", ".mvn/jvm.config", ".mvn/maven.config", ".mvn/extensions.xml",
     ".mvn/wrapper/maven-wrapper.properties"});
constexpr auto kBazel = std::to_array<Name>(
    {"WORKSPACE", "WORKSPACE.bazel", "MODULE.bazel", "BUILD", "BUILD.bazel", ".bazelrc", "BUCK", ".buckconfig"});
constexpr auto kRuby = std::to_array<Name>({"Rakefile", "rakefile", "Rakefile.rb", "Gemfile", "Gemfile.lock", ".rspec",
                                            ".bundle/config", "Vagrantfile", "Capfile"});
constexpr auto kTasks = std::to_array<Name>({"justfile", "Justfile", ".justfile", "Taskfile.yml", "Taskfile.yaml",
                                             "mise.toml", ".mise.toml", ".envrc", "Procfile"});
constexpr auto kGit = std::to_array<Name>(
    {".git", ".git/config", ".gitmodules", ".gitattributes", ".git/config.worktree", ".git/hooks/pre-commit",
     ".git/hooks/commit-msg", ".git/hooks/prepare-commit-msg", ".git/hooks/post-commit", ".git/hooks/post-checkout",
     ".git/hooks/post-merge", ".git/hooks/pre-push", ".git/hooks/pre-rebase", ".git/hooks/post-rewrite",
     ".pre-commit-config.yaml"});
constexpr auto kOthers = std::to_array<Name>({"composer.json",
                                              "composer.lock",
                                              "mix.exs",
                                              "Package.swift",
                                              "pubspec.yaml",
                                              "deno.json",
                                              "deno.jsonc",
                                              "main.tf",
                                              "ansible.cfg",
                                              "playbook.yml",
                                              "site.yml",
                                              "Jenkinsfile",
                                              "skaffold.yaml",
                                              "Tiltfile",
                                              "Makefile.PL",
                                              "Build.PL",
                                              "dune",
                                              "dune-project",
                                              "stack.yaml",
                                              "Setup.hs",
                                              "global.json",
                                              "Directory.Build.props",
                                              "Directory.Build.targets",
                                              "NuGet.config",
                                              "configure",
                                              "config.status"});

constexpr auto kTable = std::to_array<ImplicitInputs>({
    {"make", kMake},
    {"gmake", kMake},
    {"bmake", kMake},
    {"remake", kMake},
    {"npm", kNode},
    {"npx", kNode},
    {"yarn", kNode},
    {"pnpm", kNode},
    {"bun", kNode},
    {"bunx", kNode},
    {"corepack", kNode},
    {"jest", kNodeTools},
    {"vitest", kNodeTools},
    {"mocha", kNodeTools},
    {"vite", kNodeTools},
    {"webpack", kNodeTools},
    {"rollup", kNodeTools},
    {"eslint", kNodeTools},
    {"prettier", kNodeTools},
    {"next", kNodeTools, true},
    {"tsc", kNodeTools},
    {"ts-node", kNodeTools},
    {"tsx", kNodeTools},
    {"babel", kNodeTools},
    {"gulp", kNodeTools},
    {"grunt", kNodeTools},
    {"playwright", kNodeTools},
    {"pytest", kPython},
    {"py.test", kPython},
    {"unittest", kPython},
    {"tox", kPython},
    {"nox", kPython},
    {"pip", kPython},
    {"pip3", kPython},
    {"pipenv", kPython},
    {"poetry", kPython},
    {"pdm", kPython},
    {"hatch", kPython},
    {"uv", kPython},
    {"uvx", kPython},
    {"invoke", kPython, true},
    {"fab", kPython, true},
    {"mypy", kPython},
    {"setuptools", kPython},
    {"docker", kContainers},
    {"docker-compose", kContainers},
    {"podman", kContainers},
    {"podman-compose", kContainers},
    {"buildah", kContainers},
    {"nerdctl", kContainers},
    {"buildctl", kContainers},
    {"cargo", kCargo},
    {"rustup", kCargo},
    {"go", kGo, true},
    {"cmake", kCmake},
    {"ctest", kCmake},
    {"cpack", kCmake},
    {"ninja", kCmake},
    {"meson", kCmake},
    {"scons", kCmake},
    {"waf", kCmake},
    {"mvn", kJava},
    {"mvnw", kJava},
    {"gradle", kJava},
    {"gradlew", kJava},
    {"ant", kJava, true},
    {"sbt", kJava},
    {"bazel", kBazel},
    {"bazelisk", kBazel},
    {"buck", kBazel, true},
    {"buck2", kBazel},
    {"rake", kRuby, true},
    {"bundle", kRuby, true},
    {"bundler", kRuby},
    {"rspec", kRuby},
    {"vagrant", kRuby},
    {"cap", kRuby, true},
    {"just", kTasks, true},
    {"task", kTasks, true},
    {"mise", kTasks},
    {"direnv", kTasks},
    {"foreman", kTasks, true},
    {"git", kGit},
    {"pre-commit", kGit},
    {"composer", kOthers},
    {"mix", kOthers, true},
    {"swift", kOthers, true},
    {"dart", kOthers, true},
    {"flutter", kOthers, true},
    {"deno", kOthers},
    {"terraform", kOthers},
    {"tofu", kOthers, true},
    {"ansible", kOthers},
    {"ansible-playbook", kOthers},
    {"skaffold", kOthers},
    {"tilt", kOthers, true},
    {"dune", kOthers, true},
    {"stack", kOthers, true},
    {"cabal", kOthers},
    {"dotnet", kOthers},
    {"msbuild", kOthers},
    {"configure", kOthers, true},
});

}  // namespace

const ImplicitInputs* ImplicitInputsOf(std::string_view program) {
  program.remove_prefix(program.find_last_of('/') + 1);  // 0 where there is none
  const auto row = std::ranges::find(kTable, program, &ImplicitInputs::program);
  return row == kTable.end() ? nullptr : &*row;
}

}  // namespace skerry::engine
