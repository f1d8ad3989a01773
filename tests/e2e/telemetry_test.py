"""What the daemon tells other servers of itself: announcements, spans, and lines of its log."""
import hashlib
import hmac
import http.server
import json
import os
import re
import threading
import time

import daemon
import harness

SECRET = "a-secret-of-the-webhook"
MARKER = "marker_in_the_code"
RISKY = f"import shutil\nshutil.rmtree('{MARKER}', ignore_errors=True)\nprint('done')"
PHASES = {"skerry.policy", "skerry.approval_wait", "skerry.claim", "skerry.run", "skerry.commit"}


class Receiver:
    """A server that keeps what it is sent. Answers as it is told, then 200."""

    def __init__(self):
        self.requests, self.answers = [], []
        self.lock = threading.Lock()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with receiver.lock:
                    receiver.requests.append((self.path, dict(self.headers), body))
                    status = receiver.answers.pop(0) if receiver.answers else 200
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def received(self):
        with self.lock:
            return list(self.requests)

    def spans(self, trace):
        """Those of the trace that came so far."""
        return [span for path, _, body in self.received() if path == "/v1/traces"
                for resource in json.loads(body)["resourceSpans"] for scope in resource["scopeSpans"]
                for span in scope["spans"] if span["traceId"] == trace]

    def announced(self, session):
        """What came about the session."""
        return [(headers, body) for _, headers, body in self.received() if json.loads(body)["session_id"] == session]


def new_trace(flags="01"):
    """A trace, the span that asks, and the header."""
    trace, span = os.urandom(16).hex(), os.urandom(8).hex()
    return trace, span, {"traceparent": f"00-{trace}-{span}-{flags}"}


class TelemetryTest(daemon.DaemonTest):
    arguments = ("--log-format", "json", "--log-level", "info")

    @classmethod
    def setUpClass(cls):
        cls.hook, cls.collector = Receiver(), Receiver()
        cls.addClassCleanup(cls.hook.close)
        cls.addClassCleanup(cls.collector.close)
        cls.settings = {"SKERRY_SANDBOX__APPROVALS__WEBHOOK_URL": cls.hook.url + "/hook",
                        "SKERRY_SANDBOX__APPROVALS__WEBHOOK_SECRET": SECRET,
                        "SKERRY_SANDBOX__TELEMETRY__OTLP_ENDPOINT": cls.collector.url}
        super().setUpClass()

    def ask(self, session, headers=None):
        """A thread in which something risky waits for its approval, and a list for the answer."""
        answers = []

        def run():
            answers.append(self.api.post(f"/v1/sessions/{session}/execute", code=RISKY, headers=headers))

        thread = threading.Thread(target=run)
        thread.start()
        self.addCleanup(thread.join)
        return thread, answers

    def question_of(self, session):
        items = self.api.expect(200, "GET", "/v1/approvals")["items"]
        return next((item for item in items if item["session_id"] == session), None)

    def approve(self, question):
        self.api.expect(200, "POST", f"/v1/approvals/{question['id']}", decision="approve", digest=question["digest"])

    def run_approved(self, headers=None):
        """The session, and the answer to something risky that was approved."""
        session = self.make()
        thread, answers = self.ask(session, headers)
        self.approve(self.eventually(lambda: self.question_of(session)))
        thread.join()
        self.assertEqual(answers[0].status, 200, answers[0].body)
        self.assertEqual(answers[0].json["stdout"], "done\n", answers[0].json)
        return session, answers[0]

    def log_lines(self, **fields):
        """Those that have these; the last line may be on its way."""
        lines = map(json.loads, self.daemon.stderr().rpartition("\n")[0].splitlines())
        return [line for line in lines if fields.items() <= line.items()]

    def at_least(self, count, question):
        """What the question gives as soon as there are so many."""
        return self.eventually(lambda: found if len(found := question()) >= count else None, what=f"{count} of them")

    # --- announcements ---

    def test_a_request_for_approval_is_announced_until_it_was_heard(self):
        session = self.make()
        self.hook.answers[:] = [503]
        thread, answers = self.ask(session)
        first, second = self.at_least(2, lambda: self.hook.announced(session))
        question = self.question_of(session)
        for headers, body in (first, second):
            signed = headers["Skerry-Timestamp"].encode() + b"." + body
            expected = "v1=" + hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
            self.assertTrue(hmac.compare_digest(headers["Skerry-Signature"], expected), headers)
            self.assertLess(abs(time.time() - int(headers["Skerry-Timestamp"])), 60)
            self.assertEqual(headers["Content-Type"], "application/json")
        self.assertEqual(first[0]["Skerry-Delivery"], second[0]["Skerry-Delivery"])
        self.assertEqual(first[1], second[1])
        told = json.loads(first[1])
        self.assertEqual((told["type"], told["approval_id"], told["digest"]),
                         ("approval.requested", question["id"], question["digest"]))
        self.assertNotIn(MARKER, first[1].decode())
        # What it tells is enough to answer.
        self.approve({"id": told["approval_id"], "digest": told["digest"]})
        thread.join()
        self.assertEqual((answers[0].status, answers[0].json["stdout"]), (200, "done\n"))
        self.assertEqual({path for path, _, _ in self.hook.received()}, {"/hook"})

    # --- spans ---

    def test_the_spans_of_a_run_are_a_part_of_the_trace_that_it_came_with(self):
        trace, parent, headers = new_trace()
        session, answer = self.run_approved(headers)
        spans = self.at_least(len(PHASES) + 2, lambda: self.collector.spans(trace))
        by_name = {span["name"]: span for span in spans}
        request, execution = by_name["POST /v1/sessions/{session}/execute"], by_name["skerry.execution"]
        self.assertEqual((request["parentSpanId"], request["kind"]), (parent, 2))
        self.assertEqual(answer.headers["traceparent"], f"00-{trace}-{request['spanId']}-01")
        self.assertEqual(execution["parentSpanId"], request["spanId"])
        attributes = {each["key"]: each["value"]["stringValue"] for each in execution["attributes"]}
        self.assertEqual(attributes["skerry.session_id"], session)
        self.assertEqual(attributes["skerry.execution_id"], answer.json["execution_id"])
        self.assertEqual(PHASES - set(by_name), set())
        self.assertEqual({by_name[name]["parentSpanId"] for name in PHASES}, {execution["spanId"]})
        self.assertEqual(len({span["spanId"] for span in spans}), len(spans))

    def test_spans_have_the_form_of_otlp(self):
        trace, _, headers = new_trace()
        self.api.expect(200, "GET", "/v1/approvals", headers=headers)
        span, = self.eventually(lambda: self.collector.spans(trace))
        self.assertRegex(span["spanId"], "^[0-9a-f]{16}$")
        begin, end = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
        self.assertLessEqual(begin, end)
        self.assertLess(abs(time.time() - end / 1e9), 60)
        sent = next((headers, body) for _, headers, body in self.collector.received() if trace.encode() in body)
        self.assertEqual(sent[0]["Content-Type"], "application/json")
        resource = json.loads(sent[1])["resourceSpans"][0]["resource"]["attributes"]
        self.assertIn({"key": "service.name", "value": {"stringValue": "skerry"}}, resource)

    def test_what_is_not_sampled_is_not_sent(self):
        unwanted, _, headers = new_trace("00")
        answer = self.api.get("/v1/approvals", headers=headers)
        self.assertRegex(answer.headers["traceparent"], f"^00-{unwanted}-[0-9a-f]{{16}}-00$")
        wanted, _, headers = new_trace()
        self.api.get("/v1/approvals", headers=headers)
        self.eventually(lambda: self.collector.spans(wanted))
        self.assertEqual(self.collector.spans(unwanted), [])

    def test_a_request_without_a_trace_or_with_a_wrong_one_begins_its_own(self):
        wrong = "00-" + "0" * 32 + "-" + "1" * 16 + "-01"
        for headers in (None, {"traceparent": wrong}, {"traceparent": "nonsense"}):
            begun = self.api.get("/v1/approvals", headers=headers).headers["traceparent"]
            trace = re.fullmatch("00-([0-9a-f]{32})-[0-9a-f]{16}-01", begun)[1]
            self.assertNotEqual(trace, "0" * 32)
            span, = self.eventually(lambda: self.collector.spans(trace))
            self.assertNotIn("parentSpanId", span)

    def test_a_collector_and_a_receiver_that_are_gone_hold_nobody_up(self):
        gone = Receiver()
        gone.close()
        self.with_settings(SKERRY_SANDBOX__APPROVALS__WEBHOOK_URL=gone.url,
                           SKERRY_SANDBOX__TELEMETRY__OTLP_ENDPOINT=gone.url)
        self.run_approved()
        self.eventually(lambda: any("could not be announced" in line["message"] for line in self.log_lines()))
        self.assertEqual(self.daemon.stop(), 0)
        self.assertTrue(any("otlpEndpoint" in line["message"] for line in self.log_lines()), self.daemon.stderr())
        self.renew()

    # --- the log ---

    def test_the_log_names_requests_and_sessions_and_never_what_is_secret(self):
        session, answer = self.run_approved()
        request, = self.at_least(1, lambda: self.log_lines(request_id=answer.headers["X-Request-Id"]))
        self.assertEqual((request["message"], request["method"], request["level"]), ("request", "POST", "info"))
        self.assertIn(session, request["path"])
        run, = self.at_least(1, lambda: self.log_lines(execution_id=answer.json["execution_id"]))
        self.assertEqual((run["session_id"], run["outcome"]), (session, "exited"))
        self.assertEqual(run["trace_id"], request["trace_id"])
        self.assertNotIn(MARKER, self.daemon.stderr())
        self.assertNotIn(SECRET, self.daemon.stderr())


if __name__ == "__main__":
    harness.main()
