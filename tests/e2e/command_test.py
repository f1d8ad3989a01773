"""doctor, backends, config show, version, help."""
import json
import os

import harness


class CommandTest(harness.SkerryTest):
    def test_version(self):
        self.assertRegex(self.skerry("version").out.decode(), r"^skerry \d+\.\d+\.\d+\n$")
        self.assertIn("version", json.loads(self.skerry("version", "--json").out))

    def test_help_of_everything(self):
        for command in ([], ["run"], ["doctor"], ["backends"], ["config"], ["config", "show"], ["version"]):
            result = self.skerry(*command, "--help")
            self.assertEqual((result.code, result.err), (0, b""), command)
            self.assertGreater(len(result.out), 50, command)

    def test_doctor_says_what_there_is(self):
        result = self.skerry("doctor")
        self.assertEqual(result.code, 0, result.out)
        for word in (b"kernel", b"user namespaces", b"seccomp", b"landlock", b"cgroup memory", b"backend native"):
            self.assertIn(word, result.out)

    def test_doctor_as_json_names_the_cost_of_what_is_missing(self):
        checks = self.skerry("doctor", "--json").json
        self.assertIs(checks["usable"], True)
        for check in checks["checks"]:
            self.assertLessEqual({"name", "ok", "detail"}, check.keys())
            if not check["ok"]:
                self.assertTrue(check["cost"], check)

    def test_what_doctor_misses_is_in_the_result_as_degraded(self):
        weak = {c["name"] for c in self.skerry("doctor", "--json").json["checks"] if not c["ok"]}
        degraded = self.run_code("--json", "pass").json["degraded"]
        for name in ("cgroup memory", "cgroup pids", "cgroup cpu", "landlock"):
            self.assertEqual(name in weak, any(line.startswith(name) for line in degraded), (name, weak, degraded))

    def test_backends(self):
        rows = {row["name"]: row for row in self.skerry("backends", "--json").json}
        self.assertEqual(set(rows), {"native", "subprocess"})
        self.assertIs(rows["native"]["usable"], True)
        self.assertIs(rows["native"]["default"], True)
        self.assertIn(b"native", self.skerry("backends").out)

    def test_config_show_tells_where_values_come_from(self):
        path = os.path.join(self.home, "config.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write('{ // comments are fine\n "sandbox": {"limits": {"max_memory_mb": 99}} }')
        result = self.skerry("--config", path, "config", "show", "--json",
                             environment={"SKERRY_SANDBOX__LIMITS__TIMEOUT": "7",
                                          "NANOBOT_SANDBOX__OPENSANDBOX__VKE__API_KEY": "s3cret"}).json
        origins = result["origins"]
        self.assertIn("file", origins["sandbox.limits.maxMemoryMb"])
        self.assertIn("SKERRY_SANDBOX__LIMITS__TIMEOUT", origins["sandbox.limits.timeout"])
        self.assertEqual(origins["sandbox.limits.maxPids"], "default")
        self.assertEqual(result["values"]["sandbox"]["limits"]["timeout"], 7)
        self.assertNotIn("s3cret", json.dumps(result))

    def test_the_configuration_is_obeyed_and_flags_win(self):
        environment = {"SKERRY_SANDBOX__LIMITS__TIMEOUT": "1"}
        self.assertEqual(self.run_code("while True: pass", environment=environment).code, 124)
        code = "import time; time.sleep(1.5); print('slept')"
        self.assertEqual(self.run_code("--timeout", "10", code, environment=environment).out, b"slept\n")


if __name__ == "__main__":
    harness.main()
