def pace_output(stream):
    """Makes `stream` write each line when it is complete, so that nothing is lost when the program is killed.

    A program that prints lines by the ten thousand would spend most of its time in the kernel. While it does, its lines go
    out in blocks, and a thread of `_thread`, which the program does not see, sends what is left fifty times a second.
    Returns what ends that for good, for the end of the program. A stream that is not buffered, or is by line anyhow, stays
    as it is. All names are inside: the text is also put before a program that must find a clean `__main__`.
    """
    import _thread
    import io
    import os
    import time

    if type(stream) is not io.TextIOWrapper or type(stream.buffer) is not io.BufferedWriter or stream.line_buffering:
        return lambda: None

    burst, shortest = 1024, 0.5  # So many lines in less than so many seconds are very many.
    period, spell, probe = 0.02, 10, 64  # After a spell of periods, are there still more than 64 lines in a period?

    class Pace:
        def __init__(self):
            # The objects are of the exact types of CPython, which makes them fast; the buffer's dictionary counts the lines.
            self.flush_buffer = stream.buffer.flush
            stream.buffer.flush = self.count
            self.ended = False
            self.renew()

        def renew(self):
            self.wake, self.running = _thread.allocate_lock(), _thread.allocate_lock()
            self.wake.acquire()
            self.stopping = False
            self.start_counting(burst)

        def start_counting(self, lines):
            self.left, self.since = lines, time.monotonic()

        def count(self):
            # What raises KeyboardInterrupt here does so before or after the line is written, never in between.
            self.left -= 1
            if self.left == 0:
                self.counted()
            return self.flush_buffer()

        def counted(self):
            if self.running.locked():
                self.rouse()
            elif time.monotonic() - self.since > shortest or self.ended:
                self.start_counting(burst)
            else:
                self.running.acquire()
                try:
                    _thread.start_new_thread(self.run, ())
                except BaseException:  # No thread can be had, or a signal came: line by line, then.
                    self.running.release()
                    self.start_counting(burst)

        def rouse(self):
            try:
                self.wake.release()
            except RuntimeError:
                pass

        def run(self):
            try:
                while not self.stopping:
                    stream.reconfigure(line_buffering=False)
                    for _ in range(spell):
                        self.wake.acquire(timeout=period)
                        stream.flush()
                        if self.stopping:
                            break
                    self.start_counting(probe)
                    stream.reconfigure(line_buffering=True)
                    if not self.wake.acquire(timeout=period):
                        break
            except BaseException:  # Closed, detached, or nobody reads: the program hears of it at its next line.
                pass
            self.start_counting(burst)
            self.running.release()

        def pause(self):
            if self.running.locked():
                self.stopping = True
                self.rouse()
                # In a signal handler that interrupted the stream itself, the thread waits for what this one holds.
                if self.running.acquire(timeout=1):
                    self.running.release()
                    self.stopping = False

        def end(self):
            self.ended = True
            self.pause()

    pace = Pace()
    stream.reconfigure(line_buffering=True)
    os.register_at_fork(before=pace.pause, after_in_child=pace.renew)
    return pace.end
