"""The dashboard asks for figures that there are, and docs/watching.md names all of them. Its webhook works."""
import contextlib
import glob
import hashlib
import hmac
import http.client
import http.server
import io
import json
import os
import re
import threading
import time
import unittest
import unittest.mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DASHBOARD = os.path.join(ROOT, "packaging", "grafana", "skerry.json")
WATCHING = os.path.join(ROOT, "docs", "watching.md")
SUFFIXES = ("_bucket", "_sum", "_count")  # of a histogram's series


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def families_in(source):
    """The families that a source makes: name to type."""
    found = {}
    for name in re.findall(r'"(skerry_[a-z_]+)"', source):
        quoted = re.escape(f'"{name}"')
        text = r'\s*,\s*(?:"[^"]*"\s*)+,\s*'
        if re.search(r"CounterOf\(\s*" + quoted, source) or re.search(quoted + text + r"Kind::kCounter", source):
            found[name] = "counter"
        elif re.search(r"HistogramOf\(\s*" + quoted, source):
            found[name] = "histogram"
        elif re.search(quoted + text + r"Kind::kGauge", source):
            found[name] = "gauge"
        else:
            raise AssertionError(f"{name} is made in a way that this test does not know")
    return found


def families():
    found = {}
    for path in glob.glob(os.path.join(ROOT, "src", "**", "*.cpp"), recursive=True):
        if not path.endswith("_test.cpp"):
            found |= families_in(read(path))
    return found


def series_of(family, kind):
    return {family + suffix for suffix in SUFFIXES} if kind == "histogram" else {family}


def names_in(expression):
    """Metric names; what stands in quotes or behind `by` is none of them."""
    return set(re.findall(r"\bskerry_[a-z_]+", re.sub(r'"[^"]*"', "", expression)))


def panels_of(board):
    for panel in board["panels"]:
        yield panel
        yield from panel.get("panels", [])


def expressions_of(board):
    for panel in panels_of(board):
        for target in panel.get("targets", []):
            yield panel, target["expr"]


class ParserTest(unittest.TestCase):
    def test_every_way_of_making_a_family_is_known(self):
        source = '''CounterOf("skerry_a_total", "A.") HistogramOf(
            "skerry_b_seconds", "B.", x) One("skerry_c", "C, and more.", Kind::kGauge, 1)
            watch::Sampled d{"skerry_d_total", "D "
            "in two parts.", Kind::kCounter, {}};'''
        self.assertEqual(families_in(source), {"skerry_a_total": "counter", "skerry_b_seconds": "histogram",
                                               "skerry_c": "gauge", "skerry_d_total": "counter"})

    def test_another_way_is_an_error(self):
        with self.assertRaises(AssertionError):
            families_in('GaugeOf("skerry_a", "A.")')

    def test_names_are_told_from_what_stands_in_quotes(self):
        self.assertEqual(names_in('sum by (le) (rate(skerry_a_bucket{job="skerry_b"}[5m])) / skerry_c'),
                         {"skerry_a_bucket", "skerry_c"})


class DashboardTest(unittest.TestCase):
    def setUp(self):
        self.board = json.loads(read(DASHBOARD))
        self.series = set().union(*(series_of(*family) for family in families().items()))

    def test_there_are_figures(self):
        self.assertGreater(len(families()), 20)
        self.assertGreater(len(list(expressions_of(self.board))), 20)

    def test_every_figure_in_it_is_one_that_there_is(self):
        for panel, expression in expressions_of(self.board):
            with self.subTest(panel=panel["title"], expression=expression):
                self.assertTrue(names_in(expression))
                self.assertLessEqual(names_in(expression), self.series)

    def test_its_variables_ask_for_figures_that_there_are(self):
        for variable in self.board["templating"]["list"]:
            self.assertLessEqual(names_in(variable["definition"]), self.series)

    def test_every_family_is_on_it(self):
        shown = set().union(*(names_in(expression) for _, expression in expressions_of(self.board)))
        for family, kind in families().items():
            with self.subTest(family=family):
                self.assertTrue(shown & series_of(family, kind))

    def test_counters_and_gauges_are_asked_for_as_such(self):
        kinds = families()
        for panel, expression in expressions_of(self.board):
            for name in re.findall(r"\b(?:rate|increase)\((skerry_[a-z_]+)", expression):
                with self.subTest(panel=panel["title"], name=name):
                    self.assertNotEqual(kinds.get(name), "gauge")

    def test_the_source_of_the_data_is_asked_for_when_it_is_imported(self):
        self.assertEqual([each["name"] for each in self.board["__inputs"]], ["DS_PROMETHEUS"])
        for panel in panels_of(self.board):
            for part in ([panel] if panel["type"] != "row" else []) + panel.get("targets", []):
                self.assertEqual(part["datasource"]["uid"], "${DS_PROMETHEUS}")

    def test_panels_have_ids_of_their_own_and_do_not_overlap(self):
        panels = list(panels_of(self.board))
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        cells = [(column, line) for panel in panels for place in [panel["gridPos"]]
                 for column in range(place["x"], place["x"] + place["w"])
                 for line in range(place["y"], place["y"] + place["h"])]
        self.assertEqual(len(cells), len(set(cells)))
        self.assertLess(max(column for column, _ in cells), 24)


class DocumentTest(unittest.TestCase):
    def test_the_table_has_every_family_with_its_type_and_no_other(self):
        rows = re.findall(r"^\| `(skerry_[a-z_]+)` \| (\w+) \|", read(WATCHING), re.M)
        self.assertEqual(len(rows), len(set(rows)))
        self.assertEqual(dict(rows), families())

    def test_no_other_is_named_in_the_text(self):
        series = set(families()).union(*(series_of(*family) for family in families().items()))
        self.assertLessEqual(set(re.findall(r"\bskerry_[a-z_]+", read(WATCHING))), series)


class WebhookTest(unittest.TestCase):
    """The example of the document, asked as the daemon asks."""

    SECRET = "a secret of sixteen"

    def setUp(self):
        [example] = re.findall(r"^```python\n(.*?)^```$", read(WATCHING), re.M | re.S)
        self.example = {"__name__": "example"}
        exec(compile(example, WATCHING, "exec"), self.example)
        self.body = b'{"level": "high", "reason": "removes files", "approval_id": "apr_1"}'

    def headers(self, secret=SECRET, at=None):
        stamp = str(int(time.time() if at is None else at))
        signed = hmac.new(secret.encode(), stamp.encode() + b"." + self.body, hashlib.sha256).hexdigest()
        return {"Skerry-Timestamp": stamp, "Skerry-Signature": "v1=" + signed}

    def is_genuine(self, headers, body=None):
        return self.example["is_genuine"](self.SECRET, headers, self.body if body is None else body)

    def test_what_was_signed_is_genuine(self):
        self.assertTrue(self.is_genuine(self.headers()))

    def test_what_was_not_is_refused(self):
        for what, headers, body in (("another secret", self.headers("another secret, long"), None),
                                    ("another body", self.headers(), b"{}"),
                                    ("another time", self.headers() | {"Skerry-Timestamp": "1"}, None),
                                    ("old", self.headers(at=time.time() - 3600), None),
                                    ("nothing", {}, None)):
            with self.subTest(what):
                self.assertFalse(self.is_genuine(headers, body))

    def test_the_server_answers_and_says_what_waits(self):
        class Quiet(self.example["Hook"]):
            def log_message(self, *_):
                pass

        def post(headers):
            connection = http.client.HTTPConnection(*server.server_address, timeout=10)
            with contextlib.closing(connection):
                connection.request("POST", "/", self.body, headers)
                return connection.getresponse().status

        printed = io.StringIO()
        with http.server.HTTPServer(("127.0.0.1", 0), Quiet) as server, contextlib.redirect_stdout(printed), \
                unittest.mock.patch.dict(os.environ, {"WEBHOOK_SECRET": self.SECRET}):
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            try:
                self.assertEqual((post(self.headers()), post({})), (204, 403))
            finally:
                server.shutdown()
                thread.join()
        self.assertEqual(printed.getvalue(), "high removes files - skerry approvals show apr_1\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
