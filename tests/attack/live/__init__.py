"""Attacks on a live daemon, over its API. Importing this fills live.rows.TABLE."""

from live import approvals, budgets, carrying, ending, fairness, rows, secrets, terminals  # noqa: F401

rows.TABLE.sort(key=lambda row: row.id)
