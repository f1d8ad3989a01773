"""What happens, as it happens: who hears what, in which order, again after a reconnect, and what a thousand readers cost."""
import json
import re
import selectors
import threading
import time

import daemon
import harness
from daemon_approval_test import Desk, StreamOver

BURST = 10_000
READERS = 100


def sse(client, path, headers=None):
    """The socket of a stream whose head has come."""
    return client.send_head("GET", path, headers={"Accept": "text/event-stream"} | (headers or {}))


def read_sse(stream, enough, seconds=20):
    """What came until `enough` of it is there."""
    received = b""
    stream.settimeout(seconds)
    while not enough(received):
        piece = stream.recv(65536)
        if not piece:
            raise AssertionError(f"the stream ended: {received[-300:]!r}")
        received += piece
    return received


def data_of(received):
    return [json.loads(line[6:]) for line in received.split(b"\n") if line.startswith(b"data: ")]


class EventsTest(daemon.DaemonTest):
    def test_a_session_from_its_beginning_to_its_end(self):
        with Desk(self.api) as desk:
            session = self.api.expect(201, "POST", "/v1/sessions", metadata={})["id"]
            self.execute("echo 1 > f", session)
            self.remove(session)
            desk.until("session.deleted", session_id=session)
        mine = [each for each in desk.seen if each["session_id"] == session]
        names = [each["type"] for each in mine if each["type"] != "session.state"]
        self.assertEqual(names[0], "session.created")
        self.assertEqual(names[-1], "session.deleted")
        order = [names.index(name) for name in ("execution.began", "execution.started", "execution.ended")]
        self.assertEqual(order, sorted(order))
        changed = next(each for each in mine if each["type"] == "files.changed")
        self.assertEqual([change["path"] for change in changed["changes"]], ["f"])
        numbers = [each["sequence"] for each in desk.seen]
        self.assertEqual(numbers, sorted(set(numbers)))

    def test_only_what_was_asked_for(self):
        first, second = self.make(), self.make()
        with Desk(self.api, f"?session={first}") as one, Desk(self.api, "?types=execution.ended,files.") as two:
            self.execute("echo 1 > f", second)
            self.execute("echo 1 > f", first)
            one.until("execution.ended")
            while {each["session_id"] for each in two.seen if each["type"] == "execution.ended"} < {first, second}:
                two.read()
        self.assertEqual({each["session_id"] for each in one.seen}, {first})
        self.assertEqual({each["type"] for each in two.seen}, {"execution.ended", "files.changed"})

    def test_nothing_of_other_tenants(self):
        other = self.daemon.tcp(self.daemon.issue(tenant="events-other", scopes=["read", "run"])["token"])
        theirs = other.expect(201, "POST", "/v1/sessions", metadata={})["id"]
        self.addCleanup(self.remove, theirs)
        mine = self.make()
        with Desk(other) as desk:
            self.execute("echo 1", mine)
            other.expect(200, "POST", f"/v1/sessions/{theirs}/execute", code="echo 1", language="shell")
            desk.until("execution.ended")
        self.assertEqual({each["session_id"] for each in desk.seen}, {theirs})
        self.assertEqual(other.get(f"/v1/events?session={mine}").status, 404)

    def test_after_a_reconnect_nothing_is_missing(self):
        session = self.make()
        with Desk(self.api, f"?session={session}") as whole:
            with Desk(self.api, f"?session={session}") as before:
                self.execute("echo 1", session)
                seen = [before.until("execution.ended")]
            last = seen[0]["sequence"]
            for number in range(5):
                self.execute(f"echo {number} > f", session)
            with Desk(self.api, f"?session={session}&after={last}") as again:
                ended = 0
                while ended < 5:
                    ended += again.read()["type"] == "execution.ended"
            while whole.read()["sequence"] < again.seen[-1]["sequence"]:
                pass
            self.assertEqual(again.seen, [each for each in whole.seen if each["sequence"] > last])
            # The same for a browser, which says where it was by itself.
            with sse(self.api, f"/v1/events?session={session}", {"Last-Event-ID": str(last)}) as stream:
                received = read_sse(stream, lambda text: text.count(b"event: execution.ended") == 5)
            self.assertEqual(data_of(received), again.seen)
            identities = [int(each) for each in re.findall(rb"^id: (\d+)$", received, re.MULTILINE)]
            self.assertEqual(identities, [each["sequence"] for each in again.seen])

    def test_what_is_gone_is_told_as_a_gap(self):
        with Desk(self.api, "?after=1") as desk:
            gap = desk.read()
        self.assertEqual((gap["type"], gap["from"]), ("gap", 2))
        self.assertGreater(gap["to"], gap["from"])

    def test_numbers_go_on_after_a_restart(self):
        with Desk(self.api) as desk:
            self.make()
            last = desk.until("session.created")["sequence"]
        self.renew()
        with Desk(self.api, f"?after={last}") as desk:
            gap = desk.read()
            self.assertEqual((gap["type"], gap["from"]), ("gap", last + 1))
            session = self.make()
            self.assertGreater(desk.until("session.created", session_id=session)["sequence"], gap["to"])

    def test_a_daemon_that_ends_does_not_wait_for_those_who_follow(self):
        with Desk(self.api) as desk, sse(self.api, "/v1/events") as stream:
            read_sse(stream, lambda text: b": follows" in text)
            began = time.monotonic()
            self.renew()
            self.assertLess(time.monotonic() - began, 8)
            self.assertEqual(desk.socket.frame()[0], 8)

    def test_bad_requests_are_refused(self):
        for query in ("after=x", "after=-1", "nonsense=1", "session=..%2f", "types=" + "a,," * 40 + "b," * 40):
            self.assertIn(self.api.get(f"/v1/events?{query}").status, (400, 404), query)

    def test_who_is_revoked_hears_nothing_more(self):
        token = self.daemon.issue(tenant="local", scopes=["read"])
        with Desk(self.daemon.tcp(token["token"])) as desk:
            self.api.delete(f"/v1/tokens/{token['id']}")
            with self.assertRaises((StreamOver, EOFError)):
                while True:
                    desk.read()


class ManyTest(daemon.DaemonTest):
    settings = {"SKERRY_SANDBOX__DAEMON__MAX_CONNECTIONS": "4096",
                "SKERRY_SANDBOX__DAEMON__MAX_SESSIONS": "100000"}

    def make_events(self, count):
        """So many, as fast as the daemon takes them: sessions that are paused and resumed."""

        def work():
            session = self.make()
            connection = self.api.open()
            for number in range(count // 4):
                connection.request("POST", f"/v1/sessions/{session}/{('pause', 'resume')[number % 2]}")
                response = connection.getresponse()
                self.assertEqual((response.status, response.read()[:1]), (200, b"{"))
            connection.close()

        self.in_threads([work] * 4)

    def test_a_thousand_streams_cost_little(self):
        self.make_events(20)
        streams = []
        try:
            before = self.daemon.memory()
            for number in range(1000):
                if number % 2:
                    streams.append(self.api.websocket("/v1/events").sock)
                else:
                    streams.append(sse(self.api, "/v1/events"))
                    read_sse(streams[-1], lambda text: b": follows" in text)
            self.make_events(20)
            for stream in streams:  # everybody hears it
                read_sse(stream, lambda text: text.count(b"session.state") >= 20)
            cost = self.daemon.memory() - before
        finally:
            for stream in streams:
                stream.close()
        print(f"1000 streams: {cost / 1e6:.1f} MB")
        self.assertLess(cost, 50_000_000)

    def test_a_burst_reaches_everybody_in_order(self):
        sockets = [self.api.websocket("/v1/events?types=session.state") for _ in range(READERS)]
        selector = selectors.DefaultSelector()
        for each in sockets:
            each.sock.setblocking(False)
            selector.register(each.sock, selectors.EVENT_READ)
        producer = threading.Thread(target=self.make_events, args=(BURST,))
        began = time.monotonic()
        producer.start()
        tails = {each.sock: each.buffer for each in sockets}
        numbers = {each.sock: [] for each in sockets}
        finished = set()
        while len(finished) < READERS and time.monotonic() - began < 120:
            for key, _ in selector.select(1):
                sock = key.fileobj
                piece = sock.recv(1 << 20)
                text = tails[sock] + piece
                found = list(re.finditer(rb'"sequence":(\d+)[,}]', text))
                numbers[sock] += [int(match[1]) for match in found]
                tails[sock] = text[found[-1].end():] if found else text
                if len(numbers[sock]) >= BURST or b'"dropped"' in text or not piece:
                    finished.add(sock)
                    selector.unregister(sock)
        producer.join()
        whole = sum(len(each) == BURST for each in numbers.values())
        print(f"{BURST} events to {READERS} readers: {whole} got all, {time.monotonic() - began:.1f} s")
        longest = max(numbers.values(), key=len)
        self.assertEqual(len(longest), BURST)
        self.assertEqual(longest, sorted(set(longest)))
        for sock, each in numbers.items():
            self.assertEqual(each, longest[:len(each)])
            if len(each) < BURST:
                self.assertIn(b"too slow", tails[sock])
        for each in sockets:
            each.close()

    def test_a_reader_that_reads_too_late_is_dropped_with_a_reason(self):
        with sse(self.api, "/v1/events") as stream, self.api.websocket("/v1/events") as web:
            read_sse(stream, lambda text: b": follows" in text)
            before = self.daemon.memory()
            self.make_events(20_000)  # more than are kept, and what the kernel keeps for both
            self.assertLess(self.daemon.memory() - before, 60_000_000)
            last = read_sse(stream, lambda text: b"\n\n" in text.partition(b"event: dropped")[2])
            notice = data_of(last[last.index(b"event: dropped"):])[0]
            self.assertIn("too slow", notice["reason"])
            # Going on from there begins with what is gone.
            with Desk(self.api, f"?after={notice['sequence']}") as desk:
                self.assertEqual((desk.read()["type"], desk.seen[0]["from"]), ("gap", notice["sequence"] + 1))
            kinds = []
            while True:
                opcode, payload = web.frame()
                if opcode == 8:
                    break
                kinds.append(json.loads(payload)["type"])
            self.assertEqual(kinds[-1], "dropped")
        self.assertIn(b"skerry_event_readers_dropped_total 2", self.api.get("/metrics").body)


if __name__ == "__main__":
    harness.main()
