"""Many sessions at once: every run is answered, with its own output and in its own files, and the memory comes back.

30 sessions with 5 runs each, 200 with 10 with SKERRY_SOAK=1.
"""
import threading
import time
import uuid

import daemon
import harness

SESSIONS, RUNS = (200, 10) if daemon.SOAK else (30, 5)
MEGABYTE = 1 << 20


class LoadTest(daemon.DaemonTest):
    arguments = ()

    def life(self, runs):
        """One session from its beginning to its end. Gives back how long each run took."""
        session = self.api.expect(201, "POST", "/v1/sessions", metadata={})["id"]
        said, times = [], []
        for number in range(runs):
            text = f"{session} {number} {uuid.uuid4()}"
            started = time.monotonic()
            result = self.execute(f"echo '{text}'; echo '{text}' >> all; cat all", session)
            times.append(time.monotonic() - started)
            said.append(text)
            expected = "".join(line + "\n" for line in [text, *said])
            if result["stdout"] != expected:
                raise AssertionError(f"{session}: {result['stdout']!r} instead of {expected!r}: {result}")
        content = self.get_file(session, "all").decode().splitlines()
        if content != said:
            raise AssertionError(f"{session}: {content} instead of {said}")
        page = self.api.expect(200, "GET", "/v1/executions", query={"session_id": session, "limit": 1000})
        states = [item["state"] for item in page["items"]]
        if states != ["done"] * runs:
            raise AssertionError(f"{session}: {states}")
        self.api.expect(204, "DELETE", f"/v1/sessions/{session}")
        return times

    def rest(self):
        """Until the daemon has nothing to do."""
        self.eventually(lambda: self.api.get("/v1/sessions").json["items"] == [])

    def test_nothing_is_lost_or_mixed_up(self):
        # What the first use of each part makes is there before anything is measured.
        self.life(2)
        self.rest()
        level = self.daemon.memory()
        gate = threading.Semaphore(100)

        def client():
            with gate:
                return self.life(RUNS)

        started = time.monotonic()
        times = sorted(sum(self.in_threads([client] * SESSIONS), []))
        took = time.monotonic() - started
        peak = self.daemon.memory("VmHWM")
        self.assertEqual(len(times), SESSIONS * RUNS)
        self.rest()
        limit = level * 1.3 + 20 * MEGABYTE
        # Threads that have nothing to do go after a while, and their memory with them.
        self.eventually(lambda: self.daemon.memory() < limit, 30, f"{self.daemon.memory()} below {limit}")
        print(f"{len(times)} runs in {SESSIONS} sessions in {took:.1f} s; "
              f"median {times[len(times) // 2] * 1000:.0f} ms, slowest {times[-1] * 1000:.0f} ms; memory "
              f"{level / MEGABYTE:.0f} → {peak / MEGABYTE:.0f} → {self.daemon.memory() / MEGABYTE:.0f} MiB", flush=True)

    def test_in_one_session_they_run_beside_each_other(self):
        session = self.make()
        count = 60 if daemon.SOAK else 20

        def one(number):
            result = self.run_command(session, command=f"echo {number}; echo {number} >> all; sleep 0.2; echo {number}")
            self.assertEqual(result["stdout"], f"{number}\n{number}\n")

        self.in_threads([lambda number=number: one(number) for number in range(count)])
        self.assertEqual(sorted(map(int, self.get_file(session, "all").split())), list(range(count)))
        self.assertTrue(self.api.expect(200, "GET", f"/v1/sessions/{session}/check")["matches"])


if __name__ == "__main__":
    harness.main()
