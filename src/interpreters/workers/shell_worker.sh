# The shell worker.
