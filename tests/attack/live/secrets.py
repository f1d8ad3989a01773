"""K: what a token may see that it was not given for."""

import secrets

from live.rows import NotRun, live


@live("K21", "Lateral", "values of a session's variables, with a token that may only read", "names without values")
def _(house):
    secret = "s3cret-" + secrets.token_hex(8)
    session = house.alice.run.expect(201, "POST", "/v1/sessions", environment={"API_KEY": secret})
    try:
        if session["environment"].get("API_KEY") != secret:
            raise NotRun("whoever may run does not see it")
        seen = [path for path in ("/v1/sessions", f"/v1/sessions/{session['id']}")
                if secret.encode() in house.alice.read.ask("GET", path).body]
        with_other = house.mallory.read.ask("GET", f"/v1/sessions/{session['id']}").status
    finally:
        house.alice.run.ask("DELETE", f"/v1/sessions/{session['id']}")
    return bool(seen) or with_other != 404, "seen at " + ", ".join(seen) if seen else "null in place of the value"
