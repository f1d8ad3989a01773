#include <array>

#include "bench/ordinary_code.hpp"

namespace skerry::bench {
namespace {

constexpr auto kParts = std::to_array<std::string_view>({
    R"code(#!/usr/bin/env python3
"""Tools for the monthly figures: reads, cleans and summarizes what the branches send."""
from __future__ import annotations

import argparse
import json
import logging
import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd

logger = logging.getLogger(__name__)
DEFAULT_LIMIT = __NUMBER__
PATTERN = re.compile(r"^(?P<year>\d{4})-(?P<month>\d{2})")
)code",
    R"code(

@dataclass(order=True)
class __NOUN__Entry__INDEX__:
    """One __NOUN__ with its __OTHER__, as the __OTHER__ table has it."""

    name: str
    amount: float = 0.0
    tags: list[str] = field(default_factory=list)
    created: datetime | None = None

    @property
    def is_large(self) -> bool:
        return self.amount > __NUMBER__

    def __VERB__(self, factor: float = 1.5, *, digits: int = 2) -> "__NOUN__Entry__INDEX__":
        # Rounding comes last, or the sums of the __OTHER__s do not match.
        amount = round(self.amount * factor, digits)
        return type(self)(self.name, amount, [*self.tags, "__VERB__d"], self.created)
)code",
    R"code(

def __VERB_____NOUN__s___INDEX__(rows, limit=DEFAULT_LIMIT, key="__NOUN___id"):
    """Returns the __NOUN__s by their key.

    >>> __VERB_____NOUN__s___INDEX__([{"__NOUN___id": 1}])
    {1: [{'__NOUN___id': 1}]}
    """
    groups = defaultdict(list)
    for position, row in enumerate(rows):
        if position >= limit:
            logger.warning("stopped after %d __NOUN__s, %s left", limit, len(rows) - position)
            break
        if not row.get(key) or row["status"] in ("deleted", 'void'):
            continue
        groups[row[key]].append(row)
    return {name: sorted(each, key=lambda item: (item["date"], -item["amount"])) for name, each in groups.items()}
)code",
    R"code(

def load___NOUN___frame___INDEX__(path, since=None):
    # The export of the __OTHER__ system has a header of three lines.
    frame = pd.read_csv(path, skiprows=3, parse_dates=["created"])
    frame = frame[frame["amount"].notna() & (frame["amount"] != 0)]
    if since is not None:
        frame = frame.query("created >= @since")
    frame["month"] = frame["created"].dt.to_period("M")
    totals = frame.groupby(["month", "__OTHER__"]).agg({"amount": ["sum", "mean"], "id": "count"})
    totals.columns = ["_".join(column).strip("_") for column in totals.columns]
    return totals.reset_index().sort_values("amount_sum", ascending=False).head(__NUMBER__)
)code",
    R"code(

async def __VERB_____OTHER_____INDEX__(client, names: list[str], retries: int = 3) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for name in names:
        for attempt in range(retries):
            try:
                async with client.get(f"/__OTHER__s/{name}?page={attempt + 1}&limit=__NUMBER__") as response:
                    payload = await response.json()
            except (TimeoutError, ValueError) as error:
                logger.info("__OTHER__ %r failed: %s (%d of %d)", name, error, attempt + 1, retries)
                continue
            else:
                counts.update(item["kind"] for item in payload["items"] if item)
                break
        else:
            raise RuntimeError(f"no answer for {name!r} after {retries} attempts: {dict(counts)}")
    return dict(counts)
)code",
    R"code(

def __NOUN___statistics___INDEX__(values):
    """Mean, spread and outliers; an empty series has none."""
    data = np.asarray(values, dtype=float)
    if data.size == 0:
        return None
    mean, deviation = data.mean(), data.std(ddof=1) if data.size > 1 else 0.0
    outliers = data[np.abs(data - mean) > 3 * deviation]
    quartiles = {f"q{quarter}": float(np.percentile(data, 25 * quarter)) for quarter in range(1, 4)}
    score = math.sqrt(sum((value - mean) ** 2 for value in outliers)) / max(len(outliers), 1)
    return {"mean": mean, "deviation": deviation, "outliers": outliers.tolist(), "score": score, **quartiles}
)code",
    R"code(

class __OTHER__Store__INDEX__:
    """Keeps __OTHER__s in a file and gives them back by name."""

    suffix = ".json"

    def __init__(self, folder="data/__OTHER__s"):
        self.folder = Path(folder)
        self._cache = {}
        self._expires = datetime(2024, 1, 1) + timedelta(days=__NUMBER__)

    def __VERB__(self, name, default=None):
        if (found := self._cache.get(name)) is not None:
            return found
        path = self.folder / (name + self.suffix)
        if not path.exists():
            return default
        with open(path, encoding="utf-8") as file:
            self._cache[name] = json.load(file)
        return self._cache[name]

    def __contains__(self, name):
        return name in self._cache or (self.folder / f"{name}{self.suffix}").is_file()

    def __repr__(self):
        return "<%s of %d __OTHER__s until %s>" % (type(self).__name__, len(self._cache), self._expires)
)code",
    R"code(

def parse___NOUN___arguments___INDEX__(arguments=None):
    parser = argparse.ArgumentParser(description="__VERB__ every __NOUN__ of a month")
    parser.add_argument("month", help='as in "2024-03"; the current one if it is "now"')
    parser.add_argument("--limit", type=int, default=__NUMBER__, metavar="N")
    parser.add_argument("--verbose", "-v", action="count", default=0)
    options = parser.parse_args(arguments)
    match = PATTERN.match(options.month)
    if match is None and options.month != "now":
        parser.error(f"{options.month} is no month")
    year, month = (int(part) for part in match.groups()) if match else (None, None)
    print(f"__NOUN__s of {year}/{month:02d}" if year else "__NOUN__s of this month", end="\n\n")
    return options, [year, month][: options.limit]
)code",
    R"code(

def __VERB_____NOUN___report___INDEX__(rows, *, limit=__NUMBER__):
    """Brings the rows of a __NOUN__ into the form that the report wants.

    The rows come as the export writes them: one for each __NOUN__ and day, the name first, then the figures
    in the order of the columns. A row that has no figure at all is a heading and is passed over; a row that
    has too few is taken as far as it goes, because the export drops what is empty at the end of a line.

    Parameters
    ----------
    rows : iterable of sequences
        What was read. It is gone through once, so a generator will do.
    limit : int
        At most so many rows are given back. The rest is counted, and the count stands in the last row, so
        that nobody takes the first __NUMBER__ for all there is.

    Returns
    -------
    list of dict
        The name of the __OTHER__, its figures, and whether they were complete. The order is that of the rows.

    Notes
    -----
    Two rows of the same name are not added up here: the first one of a day is the one that was signed, and
    later ones are corrections which the __OTHER__ department books by itself at the end of the month.
    """
    return [dict(zip(("name", "value", "complete"), row)) for row in rows if len(row) > 1][:limit]
)code",
    R"code(

# The figures of a __NOUN__ are kept as they came. What looks like a mistake in them has a reason more often
# than not: the __OTHER__ that was closed in the middle of a month, the hour that there are two of in October,
# the currency that changed. Whoever corrects them here makes the next report disagree with the last one, and
# it is the last one that was signed. See the manual of the export, chapter __NUMBER__, for the list of signs
# that a figure can carry, and for those that no longer mean anything.
def sign_of___NOUN_____INDEX__(figure):
    # An asterisk is an estimate, a cross stands for what was taken over from the year before.
    if figure.endswith(("*", "+")):
        return figure[-1]
    return ""  # nothing: the figure was measured
)code",
});

}  // namespace

std::span<const std::string_view> PythonParts() {
  return kParts;
}

}  // namespace skerry::bench
