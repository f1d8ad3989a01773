"""The judging itself: a payload that never ran is no defence, and a breach is seen."""

import ast
import contextlib
import io
import os
import signal
import sys
import types
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import judge  # noqa: E402
import model  # noqa: E402
import report  # noqa: E402
import rows  # noqa: E402, F401
import runner  # noqa: E402
import suite  # noqa: E402
import targets  # noqa: E402

# Every row of the catalogue that a sandbox can be tried with.
CATALOGUE = """A02 A03 A04 A07 A08 A09 A12 A13 A14 A15 A16 A18 A19 A21 A22 A23 A24 B01 B02 B04 B05 B08 B09 B10 B11
B12 B13 B14 B15 C02 C03 C05 C07 C10 C11 C12 C13 D01 D02 D04 D05 D06 D08 D09 E01 E02 E03 E04 E05 E06
E07 E08 E09 E10 E11 E12 E13 E14 E15 E16 E17 E18 E20 E21 E22 E23 E24 E25 E27 E28 E29 E32 F01 F03 F04
F06 F07 F08 F09 G01 G03 G04 G05 H01 H02 H04 H05 H07 H08 H10 H11 H12 H14 H16 J25 J28 P01 P03 P04""".split()


def row(kind="HostLeak", judging=None, **options):
    options = {"source": "    return 1", "title": "a title", "expected": "EPERM", **options}
    return model.Row("X01", kind, judge=judging or judge.leaks("secret"), **options)


def evidence(of=None, **facts):
    stage = types.SimpleNamespace(tokens={"secret": "5eCr37"})
    target = types.SimpleNamespace(family="native", user=0)
    return model.Evidence(of or row(), target, stage, **facts)


def word(of=None, **facts):
    return judge.verdict(evidence(of, **facts)).word


class VerdictTest(unittest.TestCase):
    def test_a_payload_that_never_started_is_not_run(self):
        self.assertEqual(word(), model.NOT_RUN)
        self.assertEqual(word(row(may_die=True)), model.NOT_RUN)
        self.assertEqual(word(row("Surface", judge.reached())), model.NOT_RUN)

    def test_a_token_in_the_result_is_a_breach(self):
        self.assertEqual(word(ran=True, finished=True, value=["…5eCr37…"]), model.BREACH)
        self.assertEqual(word(ran=True, finished=True, value="nothing"), model.BLOCKED)

    def test_a_breach_counts_even_when_the_payload_died_afterwards(self):
        self.assertEqual(word(ran=True, value="5eCr37", died=signal.SIGKILL), model.BREACH)

    def test_a_refusal_is_a_defence(self):
        self.assertEqual(word(ran=True, finished=True, refused=["ENOENT", "no such file"]), model.BLOCKED)

    def test_a_payload_without_a_result_is_an_error(self):
        self.assertEqual(word(ran=True), model.ERROR)
        self.assertEqual(word(ran=True, late=True), model.ERROR)
        self.assertEqual(word(ran=True, died=signal.SIGSEGV), model.ERROR)

    def test_a_mistake_in_a_payload_is_an_error(self):
        self.assertEqual(word(ran=True, broken="NameError: x"), model.ERROR)

    def test_a_hook_that_did_not_run_is_an_error(self):
        self.assertEqual(word(row(hook=lambda found: 1), ran=True, finished=True, value="x"), model.ERROR)

    def test_a_judge_that_fails_is_an_error(self):
        self.assertEqual(word(row(judging=lambda found: 1 / 0), ran=True, finished=True), model.ERROR)

    def test_a_judge_may_say_that_it_cannot_tell(self):
        self.assertEqual(
            word(row(judging=judge.host(lambda found: (None, "why"))), ran=True, finished=True), model.NOT_APPLICABLE
        )


class WarmTest(unittest.TestCase):
    def word(self, code):
        found = evidence(ran=True, finished=True, value="nothing", code=code)
        found.broken = targets.WarmNative("test", 0, None).elsewhere(found)
        return judge.verdict(found).word

    def test_a_payload_that_did_not_run_in_a_warm_sandbox_is_an_error(self):
        self.assertEqual(self.word(targets.WarmNative.failed), model.ERROR)
        self.assertEqual(self.word(0), model.BLOCKED)


class SurfaceTest(unittest.TestCase):
    def surface(self, *refusals, **facts):
        return word(row("Surface", judge.reached(*refusals)), ran=True, finished=True, **facts)

    def test_anything_but_a_refusal_is_reachable(self):
        self.assertEqual(self.surface(value=[["bpf", "EPERM"], ["bpf", "ENOSYS"]]), model.BLOCKED)
        self.assertEqual(self.surface(value=[["bpf", "EPERM"], ["bpf", "EINVAL"]]), model.REACHABLE)
        self.assertEqual(self.surface(value=[["bpf", "OK"]]), model.REACHABLE)

    def test_a_row_can_name_other_refusals(self):
        self.assertEqual(self.surface("EACCES", value=[["x", "EACCES"]]), model.BLOCKED)
        self.assertEqual(self.surface("EACCES", value=[["x", "EPERM"]]), model.REACHABLE)

    def test_a_kill_by_the_filter_is_a_defence(self):
        self.assertEqual(word(row("Surface", judge.reached()), ran=True, died=signal.SIGSYS), model.BLOCKED)


class ControlTest(unittest.TestCase):
    def control(self, of, **facts):
        return judge.control(evidence(of, ran=True, finished=True, **facts)).word

    def test_an_attack_that_fails_on_the_bare_host_proves_nothing(self):
        found = judge.control(evidence(row(), ran=True, finished=True, value="nothing"))
        self.assertEqual(report.failed_controls([found]), [found])

    def test_what_the_kernel_lacks_is_not_applicable(self):
        surface = row("Surface", judge.reached())
        self.assertEqual(self.control(surface, value=[["x", "ENOSYS"]]), model.NOT_APPLICABLE)
        self.assertEqual(self.control(surface, value=[["x", "EPERM"]]), model.BLOCKED)

    def test_a_row_may_say_that_it_need_not_succeed(self):
        self.assertEqual(self.control(row(control="may"), value="nothing"), model.NOT_APPLICABLE)
        self.assertEqual(self.control(row(control="may"), value="5eCr37"), model.BREACH)


class SumTest(unittest.TestCase):
    def clean(self, *words, kind="HostLeak"):
        return report.is_clean([model.Verdict(row(kind), word) for word in words])

    def test_only_blocked_rows_are_clean(self):
        self.assertTrue(self.clean(model.BLOCKED, model.NOT_APPLICABLE))
        for bad in (model.BREACH, model.REACHABLE, model.NOT_RUN, model.ERROR):
            self.assertFalse(self.clean(model.BLOCKED, bad), bad)

    def test_advisory_rows_do_not_count(self):
        self.assertTrue(self.clean(model.BREACH, kind=model.ADVISORY))

    def test_breaches_and_surface_are_counted_apart(self):
        total = report.sums(
            [
                model.Verdict(row(), model.BREACH),
                model.Verdict(row("Surface"), model.REACHABLE),
                model.Verdict(row("Surface"), model.BLOCKED),
            ]
        )
        self.assertEqual((total["breach"], total["surface"]), ((1, 1), (1, 2)))


class TableTest(unittest.TestCase):
    def test_names_are_unique_and_kinds_are_known(self):
        names = [one.id for one in model.TABLE]
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual({one.kind for one in model.TABLE}, {*model.BREACHES, model.SURFACE, model.ADVISORY})

    def test_the_catalogue_is_covered(self):
        self.assertLessEqual(set(CATALOGUE), {one.id for one in model.TABLE})

    def test_every_payload_is_a_program(self):
        for one in model.TABLE:
            if one.source and one.language == "python":
                with self.subTest(one.id):
                    ast.parse(runner.compose([one], {}))


class Mute(targets.Target):
    """A sandbox that never starts anything, and says so as a success."""

    family = "mute"

    def command(self, job):
        return ["true"]


class Liar(targets.Target):
    """Prints what a payload prints, but does not know the nonce."""

    family = "liar"

    def command(self, job):
        return ["printf", r"@000000000000 ran A02 null\n@000000000000 got A02 null\n"]


class WholeTest(unittest.TestCase):
    def verdicts(self, kind, *names):
        options = types.SimpleNamespace(binary="", image="", srt="")
        chosen = [one for one in model.TABLE if one.id in names]
        with contextlib.redirect_stdout(io.StringIO()):
            found = suite.Suite(kind("test", os.geteuid(), options), chosen).run()
        return {one.row.id: one.word for one in found}

    def test_a_sandbox_that_runs_nothing_withstands_nothing(self):
        names = ("A02", "A53", "B02", "E01", "H01", "D55")
        self.assertEqual(self.verdicts(Mute, *names), dict.fromkeys(names, model.NOT_RUN))

    def test_a_marker_of_somebody_else_does_not_count(self):
        self.assertEqual(self.verdicts(Liar, "A02"), {"A02": model.NOT_RUN})

    def test_without_a_sandbox_the_secrets_come_out(self):
        names = ("A02", "A03", "A07", "A23", "B02", "G01", "G04", "G51", "H01", "H04")
        self.assertEqual(self.verdicts(targets.Target, *names), dict.fromkeys(names, model.BREACH))


if __name__ == "__main__":
    unittest.main(verbosity=2)
