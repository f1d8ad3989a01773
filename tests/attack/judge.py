"""How evidence becomes a verdict. Nothing in here believes a payload that says it was stopped."""

import signal

import model

NOT_IN_KERNEL = (
    "ENOSYS",
    "EAFNOSUPPORT",
    "EPROTONOSUPPORT",
    "ESOCKTNOSUPPORT",
    "ENOENT",
    "ENODEV",
    "EOPNOTSUPP",
    "ENXIO",
)


def short(value, size=110):
    text = str(value).replace("\n", " ")
    return text if len(text) <= size else text[: size - 1] + "…"


def leaks(*names):
    """A planted token came out of the sandbox with this row's own result."""

    def judge(evidence):
        seen = str(evidence.value) + str(evidence.refused)
        found = [name for name in names if evidence.stage.tokens[name] in seen]
        return bool(found), (
            "token of the host: " + ", ".join(found) if found else short(evidence.refused or "nothing found")
        )

    return judge


def reached(*refusals):
    """Surface: some call was answered by something else than one of these errors."""
    refusals = refusals or ("EPERM", "ENOSYS")

    def judge(evidence):
        if evidence.value is None:
            return False, short(evidence.refused or f"signal {evidence.died}")
        hits = [f"{what}: {result}" for what, result in evidence.value if result not in refusals]
        return bool(hits), short(", ".join(hits) or ", ".join(sorted({result for _, result in evidence.value})))

    return judge


def succeeded():
    """Some attempt of a list of [what, result] went through."""

    def judge(evidence):
        if evidence.value is None:
            return False, short(evidence.refused or f"signal {evidence.died}")
        hits = [str(what) for what, result in evidence.value if result == "OK"]
        return bool(hits), short(", ".join(hits) or ", ".join(sorted({str(result) for _, result in evidence.value})))

    return judge


def value(predicate, text=str):
    """The payload's result is judged by a predicate here."""

    def judge(evidence):
        if evidence.value is None:
            return False, short(evidence.refused or f"signal {evidence.died}")
        return bool(predicate(evidence.value)), short(text(evidence.value))

    return judge


def host(check):
    """The host's own state decides: check(evidence) returns (succeeded, detail); None: it cannot be told here."""

    def judge(evidence):
        hit, detail = check(evidence)
        return hit if hit is None else bool(hit), short(detail)

    return judge


def of_host_files(judge):
    """About files that the host shares with the sandbox; a container has copies of its own, which it may change."""

    def wrapped(evidence):
        if evidence.target.family == "docker":
            return None, "its /usr is a copy of its own"
        return judge(evidence)

    return wrapped


def either(*judges):
    """The first that saw a success decides."""

    def judge(evidence):
        results = [one(evidence) for one in judges]
        return next((result for result in results if result[0]), results[0])

    return judge


def incomplete(evidence):
    """Why this evidence shows no defence, or nothing."""
    row = evidence.row
    if not evidence.ran:
        return model.NOT_RUN, "the payload never started: " + short(evidence.text or "no output")
    if evidence.broken:
        return model.ERROR, "payload: " + short(evidence.broken)
    if row.hook and not evidence.hook_ran and not row.may_die:
        return model.ERROR, "ended before the host could look: " + short(evidence.refused or evidence.text[-200:])
    if row.may_die or row.drive:
        return None
    if evidence.late:
        return model.ERROR, "the payload did not come to an end"
    if evidence.died and evidence.died != signal.SIGSYS:
        return model.ERROR, f"the payload died of signal {evidence.died}"
    if not evidence.finished and not evidence.died:
        return model.ERROR, "no result: " + short(evidence.text[-200:])
    return None


def verdict(evidence):
    """The verdict on a sandbox."""
    row = evidence.row
    if not evidence.ran:
        return model.Verdict(row, *incomplete(evidence))
    try:
        hit, detail = row.judge(evidence)
    except Exception as error:  # pylint: disable=broad-except
        return model.Verdict(row, model.ERROR, f"judge: {type(error).__name__}: {error}")
    if hit is None:
        return model.Verdict(row, model.NOT_APPLICABLE, detail)
    if hit:
        return model.Verdict(row, model.REACHABLE if row.is_surface else model.BREACH, detail)
    gap = incomplete(evidence)
    return model.Verdict(row, *gap) if gap else model.Verdict(row, model.BLOCKED, detail)


def not_in_this_kernel(evidence):
    """The bare host refused everything in words that mean: there is no such thing."""
    known = evidence.row.absent or (NOT_IN_KERNEL if evidence.row.is_surface else ())
    if evidence.value is None:
        return bool(evidence.refused) and evidence.refused[0] in known
    if not isinstance(evidence.value, list) or not all(
        isinstance(one, list) and len(one) == 2 for one in evidence.value
    ):
        return False
    return all(result in known for _, result in evidence.value)


def control(evidence):
    """The verdict on the bare host, where the attack is expected to succeed."""
    found = verdict(evidence)
    if found.word == model.BLOCKED and (evidence.row.control == "may" or not_in_this_kernel(evidence)):
        return model.Verdict(evidence.row, model.NOT_APPLICABLE, "no control here: " + found.detail)
    return found
