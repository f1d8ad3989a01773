"""Proves that tools/check_layers.py fails where it must and is silent where it must be: one made-up tree a rule."""

import fnmatch
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import tomllib
import unittest

CHECKER = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_layers.py"
LAYERS = CHECKER.with_name("layers.toml")


class Tree:
    """A made-up repository. Each source file that is put into it is named in its folder's CMakeLists.txt."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        (self.root / "src").mkdir()

    def put(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text))
        return self

    def source(self, path, *includes):
        self.put(path, "".join(f"#include {include}\n" for include in includes))
        if path.endswith(".cpp"):
            lists = (self.root / path).parent / "CMakeLists.txt"
            with lists.open("a") as out:
                out.write(f"set(sources {pathlib.Path(path).name})\n")
        return self

    def check(self):
        done = subprocess.run([sys.executable, CHECKER, "--root", self.root], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout.splitlines()


class LayersTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.tree = Tree(temporary.name)

    def assert_holds(self):
        self.assertEqual((0, []), self.tree.check())

    def assert_error(self, *errors):
        self.assertEqual((1, list(errors)), self.tree.check())


class NamesTest(LayersTest):
    def setUp(self):
        super().setUp()
        self.tree.source("src/backends/native/native.hpp")

    def test_who_chooses_a_backend_by_its_name_is_told(self):
        self.tree.put("src/engine/x.hpp", 'inline auto a = "native";\ninline auto b = "use the native one";\n')
        self.assert_error(
            'src/engine/x.hpp:1: engine may not name "native" of backends (ask what it can)',
            'src/engine/x.hpp:2: engine may not name "native" of backends (ask what it can)',
        )

    def test_comments_words_of_others_and_tests_are_free(self):
        self.tree.put("src/engine/x.hpp", 'inline int native = 1;  // "native"\ninline auto a = "alternative";\n')
        self.tree.put("src/engine/x_test.hpp", 'inline auto a = "native";\n')
        self.tree.put("src/cli/x.hpp", 'inline auto a = "native";\n')
        self.assert_holds()

    def test_an_exception_has_its_reason_in_the_table(self):
        with open(LAYERS, "rb") as file:
            rules = tomllib.load(file)["names"]
        for rule in rules:
            for path, reason in rule["except"].items():
                self.assertTrue((CHECKER.parents[1] / "src" / path).is_file(), path)
                self.assertGreater(len(reason), 10)


class IncludeTest(LayersTest):
    def test_an_empty_tree_holds(self):
        self.assert_holds()

    def test_a_forbidden_include_is_named_with_its_line_and_what_is_allowed(self):
        self.tree.put("src/core/x.hpp", '#pragma once\n\n#include <vector>\n#include "os/pipe.hpp"\n')
        self.assert_error("src/core/x.hpp:4: core may not include os/pipe.hpp (allowed: base)")

    def test_a_folder_may_include_itself_and_what_the_table_says(self):
        self.tree.source("src/core/x.cpp", '"core/x.hpp"', '"base/error.hpp"', "<vector>", '"x.hpp"').put("src/core/x.hpp", "")
        self.assert_holds()

    def test_every_allowed_pair_passes_and_every_other_pair_fails(self):
        with open(LAYERS, "rb") as file:
            loaded = tomllib.load(file)
        rules = loaded["folders"]
        rules.pop("bin/skerry")  # may include everything
        behind_doors = {(folder.replace("/*", "/native"), door["to"]) for door in loaded["doors"] for folder in rules
                        for pattern in door["of"] if fnmatch.fnmatch(folder, pattern) and folder not in door["not_of"]}
        table = {folder.replace("/*", "/native"): " ".join(allowed) for folder, allowed in rules.items()}
        expected = []
        for folder, allowed in table.items():
            self.tree.source(f"src/{folder}/x.hpp", *(f'"{other}/y.hpp"' for other in table))
            for line, other in enumerate(table, start=1):
                if other != folder and (other not in allowed.split() or (folder, other) in behind_doors):
                    expected.append(f"src/{folder}/x.hpp:{line}: {folder} may not include {other}/y.hpp")
        code, errors = self.tree.check()
        self.assertEqual(1, code)
        self.assertEqual(sorted(expected), sorted(error.partition(" (")[0] for error in errors))

    def test_main_may_include_everything(self):
        self.tree.source("src/bin/skerry/main.cpp", '"backends/native/x.hpp"', '"store/x.hpp"', '"transport/http/x.hpp"')
        self.assert_holds()

    def test_a_folder_in_a_folder_has_the_rules_of_the_outer_one(self):
        self.tree.source("src/transport/http/inner/x.hpp", '"core/x.hpp"', '"transport/http/x.hpp"', '"store/x.hpp"')
        code, errors = self.tree.check()
        self.assertEqual(1, code)
        self.assertEqual(["src/transport/http/inner/x.hpp:3: transport/http may not include store/x.hpp"], [e.partition(" (")[0] for e in errors])

    def test_a_backend_may_not_include_another_backend(self):
        self.tree.source("src/backends/docker/x.hpp", '"backends/docker/y.hpp"', '"backends/native/y.hpp"')
        self.assert_error(
            "src/backends/docker/x.hpp:2: backends/docker may not include backends/native/y.hpp"
            " (allowed: base, core, os, net, launcher, runner, interpreters, archive, workspace)"
        )

    def test_angle_brackets_hide_nothing(self):
        self.tree.put("src/os/pipe.hpp", "").source("src/core/x.hpp", "<os/pipe.hpp>")
        self.assert_error("src/core/x.hpp:1: core may not include os/pipe.hpp (allowed: base)")

    def test_spaces_hide_nothing(self):
        self.tree.put("src/core/x.hpp", '  #  include   "os/pipe.hpp"\n')
        self.assert_error("src/core/x.hpp:1: core may not include os/pipe.hpp (allowed: base)")

    def test_a_comment_is_no_include(self):
        self.tree.put("src/core/x.hpp", '// #include "os/pipe.hpp"\n')
        self.assert_holds()

    def test_a_relative_include_is_an_error(self):
        self.tree.source("src/core/x.hpp", '"../base/error.hpp"', '"base/../os/pipe.hpp"', '"./y.hpp"')
        self.assert_error(
            'src/core/x.hpp:1: "../base/error.hpp" is relative (write the path from src/)',
            'src/core/x.hpp:2: "base/../os/pipe.hpp" is relative (write the path from src/)',
            'src/core/x.hpp:3: "./y.hpp" is relative (write the path from src/)',
        )

    def test_a_name_without_a_folder_is_an_error_unless_it_is_beside(self):
        self.tree.source("src/core/x.hpp", '"y.hpp"')
        self.assert_error('src/core/x.hpp:1: "y.hpp" names no folder (write the path from src/)')

    def test_a_folder_that_the_table_does_not_have_is_an_error(self):
        self.tree.source("src/helpers/x.cpp", "<vector>").source("src/core/x.hpp", '"helpers/x.hpp"')
        self.assert_error(
            'src/core/x.hpp:1: the folder of "helpers/x.hpp" has no layer: add it to the table in tools/layers.toml',
            "src/helpers/x.cpp:1: the folder src/helpers has no layer: add it to the table in tools/layers.toml",
        )

    def test_a_program_that_the_table_does_not_have_is_an_error(self):
        self.tree.source("src/bin/other/main.cpp")
        self.assert_error(
            "src/bin/other/main.cpp:1: the folder src/bin/other has no layer: add it to the table in tools/layers.toml"
        )


class DoorsTest(LayersTest):
    def test_a_dialect_has_the_engine_through_views(self):
        self.tree.source("src/transport/v1/x.hpp", '"engine/views/access.hpp"', '"engine/run.hpp"')
        self.assert_holds()

    def test_what_is_behind_the_views_it_may_not_include(self):
        self.tree.source("src/transport/v1/x.hpp", '"engine/host.hpp"', '"engine/session_life.hpp"')
        has = "(of engine it has: engine/views/, engine/run.hpp)"
        self.assert_error(
            f"src/transport/v1/x.hpp:1: transport/v1 may not include engine/host.hpp {has}",
            f"src/transport/v1/x.hpp:2: transport/v1 may not include engine/session_life.hpp {has}",
        )

    def test_it_includes_neither_policy_nor_questions_nor_stores(self):
        self.tree.source("src/transport/v1/x.hpp", '"policy/x.hpp"', '"confirm/x.hpp"', '"store/x.hpp"', '"watch/x.hpp"')
        self.assertEqual((1, 4), (self.tree.check()[0], len(self.tree.check()[1])))

    def test_a_dialect_that_nobody_thought_of_is_held_to_it(self):
        self.tree.source("src/transport/new/x.hpp", '"engine/views/access.hpp"', '"engine/host.hpp"')
        self.assertEqual((1, 1), (self.tree.check()[0], len(self.tree.check()[1])))

    def test_others_are_not_held_to_it(self):
        self.tree.source("src/transport/daemon/x.hpp", '"engine/host.hpp"')
        self.assert_holds()


class TestsBesideTheCodeTest(LayersTest):
    def test_they_may_use_the_fake_backend_and_the_support(self):
        self.tree.source("src/engine/x_test.cpp", '"backends/fake/x.hpp"', '"tests/support/x.hpp"', "<gtest/gtest.h>")
        self.assert_holds()

    def test_the_code_may_not(self):
        self.tree.source("src/engine/x.cpp", '"backends/fake/x.hpp"', '"tests/support/x.hpp"')
        allowed = "(allowed: base, core, os, text, archive, policy, confirm, workspace, interpreters, json, watch)"
        self.assert_error(
            f"src/engine/x.cpp:1: engine may not include backends/fake/x.hpp {allowed}",
            f"src/engine/x.cpp:2: engine may not include tests/support/x.hpp {allowed}",
        )

    def test_they_may_not_use_another_backend(self):
        self.tree.source("src/engine/x_test.cpp", '"backends/native/x.hpp"')
        self.assertEqual(1, self.tree.check()[0])


class LibraryTest(LayersTest):
    def test_only_http_and_net_include_beast(self):
        self.tree.source("src/transport/http/x.cpp", "<boost/beast/http.hpp>").source("src/cli/x.cpp", "<boost/beast.hpp>")
        self.assert_error("src/cli/x.cpp:1: cli may not include boost/beast.hpp (only transport/http, net may)")

    def test_not_even_main_includes_beast(self):
        self.tree.source("src/bin/skerry/main.cpp", "<boost/beast.hpp>")
        self.assertEqual(1, self.tree.check()[0])

    def test_core_and_policy_include_neither_boost_nor_json(self):
        for folder in ("core", "policy"):
            self.tree.source(f"src/{folder}/x.hpp", "<boost/url.hpp>", "<nlohmann/json.hpp>")
        self.assert_error(
            "src/core/x.hpp:1: core may not include boost/url.hpp (never in core, policy)",
            "src/core/x.hpp:2: core may not include nlohmann/json.hpp (never in core, policy)",
            "src/policy/x.hpp:1: policy may not include boost/url.hpp (never in core, policy)",
            "src/policy/x.hpp:2: policy may not include nlohmann/json.hpp (never in core, policy)",
        )

    def test_others_do(self):
        self.tree.source("src/config/x.cpp", "<nlohmann/json.hpp>").source("src/net/x.cpp", "<boost/asio.hpp>")
        self.assert_holds()

    def test_only_store_includes_sqlite(self):
        for folder in ("store", "engine"):
            self.tree.source(f"src/{folder}/x.cpp", "<sqlite3.h>", "<SQLiteCpp/SQLiteCpp.h>")
        self.assert_error(
            "src/engine/x.cpp:1: engine may not include sqlite3.h (only store may)",
            "src/engine/x.cpp:2: engine may not include SQLiteCpp/SQLiteCpp.h (only store may)",
        )


class LinkTest(LayersTest):
    def test_a_forbidden_link_is_an_error(self):
        self.tree.put("src/core/CMakeLists.txt", "\nskerry_library(core SOURCES\n DEPENDS skerry_base skerry_os)\n")
        self.assert_error("src/core/CMakeLists.txt:2: core may not link skerry_os (allowed: base)")

    def test_an_allowed_link_is_none_also_the_plain_one(self):
        self.tree.put("src/os/CMakeLists.txt", "skerry_plain_library(os_plain SOURCES DEPENDS skerry_base_plain Threads::Threads)\n")
        self.assert_holds()

    def test_a_plain_target_has_the_layer_of_its_folder(self):
        self.tree.put("src/core/CMakeLists.txt", "skerry_plain_library(core_plain DEPENDS skerry_os_plain)\n")
        self.assert_error("src/core/CMakeLists.txt:1: core may not link skerry_os_plain (allowed: base)")

    def test_a_variable_hides_nothing(self):
        self.tree.put("src/core/CMakeLists.txt", "set(needs skerry_os)\nskerry_library(core DEPENDS ${needs})\n")
        self.assert_error("src/core/CMakeLists.txt:2: core may not link skerry_os (allowed: base)")

    def test_target_link_libraries_is_a_link(self):
        self.tree.put("src/core/CMakeLists.txt", "skerry_library(core)\ntarget_link_libraries(skerry_core PUBLIC skerry_os)\n")
        self.assert_error("src/core/CMakeLists.txt:2: core may not link skerry_os (allowed: base)")

    def test_a_comment_is_no_link(self):
        self.tree.put("src/core/CMakeLists.txt", "skerry_library(core DEPENDS skerry_base) # not skerry_os\n")
        self.assert_holds()

    def test_a_target_belongs_to_the_folder_that_makes_it_whatever_its_name(self):
        self.tree.put("src/backends/native/CMakeLists.txt", "skerry_library(native_backend DEPENDS skerry_os)\n")
        self.tree.put("src/engine/CMakeLists.txt", "skerry_library(engine DEPENDS skerry_native_backend)\n")
        self.assert_error(
            "src/engine/CMakeLists.txt:1: engine may not link skerry_native_backend"
            " (allowed: base, core, os, text, archive, policy, confirm, workspace, interpreters, json, watch)"
        )

    def test_one_list_for_several_programs(self):
        self.tree.put("src/bin/skerry/main.cpp", "").put("src/bin/skerry-init/main.cpp", "")
        self.tree.put(
            "src/bin/CMakeLists.txt",
            """\
            add_executable(skerry skerry/main.cpp)
            target_link_libraries(skerry PRIVATE skerry_store)
            add_executable(skerry-init skerry-init/main.cpp)
            target_link_libraries(skerry-init PRIVATE skerry_store)
            """,
        )
        self.assert_error("src/bin/CMakeLists.txt:4: bin/skerry-init may not link skerry_store (allowed: base, os, launcher)")

    def test_a_test_may_link_the_fake_backend_and_the_support(self):
        self.tree.put("src/backends/fake/CMakeLists.txt", "skerry_library(fake DEPENDS skerry_core)\n")
        self.tree.put("tests/support/CMakeLists.txt", "skerry_library(test_support DEPENDS skerry_base)\n")
        self.tree.put("src/engine/CMakeLists.txt", "skerry_test(engine_test DEPENDS skerry_engine skerry_fake skerry_test_support)\n")
        self.assert_holds()

    def test_the_library_may_not(self):
        self.tree.put("tests/support/CMakeLists.txt", "skerry_library(test_support)\n")
        self.tree.put("src/os/CMakeLists.txt", "skerry_library(os DEPENDS skerry_test_support)\n")
        self.assert_error("src/os/CMakeLists.txt:1: os may not link skerry_test_support (allowed: base)")

    def test_an_unknown_target_is_an_error(self):
        self.tree.put("src/os/CMakeLists.txt", "skerry_library(os DEPENDS skerry_helpers)\n")
        self.assert_error("src/os/CMakeLists.txt:1: skerry_helpers has no layer: add it to the table in tools/layers.toml")


class ListTest(LayersTest):
    def test_a_glob_is_an_error_everywhere(self):
        self.tree.put("CMakeLists.txt", "file(GLOB sources *.cpp)\n")
        self.tree.put("tests/CMakeLists.txt", "\nFILE(\n  GLOB_RECURSE all CONFIGURE_DEPENDS *.cpp)\n")
        self.tree.put("cmake/x.cmake", "aux_source_directory(. sources)\n")
        self.tree.put("build/dev/CMakeLists.txt", "file(GLOB sources *.cpp)\n")
        self.assert_error(
            "CMakeLists.txt:1: no file globs (name each file)",
            "cmake/x.cmake:1: no file globs (name each file)",
            "tests/CMakeLists.txt:2: no file globs (name each file)",
        )

    def test_other_file_commands_are_fine(self):
        self.tree.put("CMakeLists.txt", "file(WRITE x GLOB)  # file(GLOB sources *.cpp)\n")
        self.assert_holds()

    def test_a_forgotten_source_is_an_error(self):
        self.tree.put("src/base/CMakeLists.txt", "skerry_library(base SOURCES ids.cpp) # forgotten.cpp\n")
        self.tree.put("src/base/ids.cpp", "").put("src/base/forgotten.cpp", "").put("src/base/header.hpp", "")
        self.assert_error("src/base/forgotten.cpp:1: no CMakeLists.txt names it (add it to src/base/CMakeLists.txt)")

    def test_an_outer_list_may_name_it_by_its_path(self):
        self.tree.put("src/engine/CMakeLists.txt", "skerry_library(engine SOURCES pool/pool.cpp)\n")
        self.tree.put("src/engine/pool/pool.cpp", "")
        self.assert_holds()

    def test_the_same_name_in_another_folder_does_not_count(self):
        self.tree.put("src/base/CMakeLists.txt", "skerry_library(base SOURCES x.cpp)\n").put("src/base/x.cpp", "")
        self.tree.put("src/os/CMakeLists.txt", "skerry_library(os)\n").put("src/os/x.cpp", "")
        self.assert_error("src/os/x.cpp:1: no CMakeLists.txt names it (add it to src/os/CMakeLists.txt)")


if __name__ == "__main__":
    unittest.main()
