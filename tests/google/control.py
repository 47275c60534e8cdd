"""What other processes than the server's may set and ask.

    POST /control/faults {"path": "entries:write", "kind": "status", "status": 429, "times": 2}      DELETE: none any more
    POST /control/set {"logging.lists_per_minute": 6, "monitoring.write_period_seconds": 1, "denied": ["…"]}
    POST /control/expire_tokens
    POST /control/trust     {"email": "…", "public_key": "…"}
    GET /control/state      → {"entries": […], "points": […], "requests": n, …}

SPDX-License-Identifier: Apache-2.0
"""

import json


def _set(google, values):
    for name, value in values.items():
        target = google
        *parts, last = name.split(".")
        for part in parts:
            target = getattr(target, part)
        assert hasattr(target, last), name
        setattr(target, last, set(value) if isinstance(getattr(target, last), set) else value)


def _state(google):
    return {
        "entries": google.logging.entries,
        "writes": google.logging.writes,
        "points": google.monitoring.arrivals,
        "calls": google.monitoring.calls,
        "tokens_issued": google.tokens.issued,
        "requests": len(google.requests),
        "faults_left": google.faults.left(),
    }


def handle(google, method, path, body):
    """(HTTP status, answer)."""
    asked = json.loads(body) if body else {}
    command = (method, path.removeprefix("/control/"))
    if command == ("POST", "faults"):
        google.faults.add(**asked)
    elif command == ("DELETE", "faults"):
        google.faults.clear()
    elif command == ("POST", "set"):
        _set(google, asked)
    elif command == ("POST", "expire_tokens"):
        google.tokens.expire_all()
    elif command == ("POST", "trust"):
        google.tokens.trust(asked["email"], asked["public_key"])
    elif command == ("GET", "state"):
        return 200, _state(google)
    else:
        return 404, {"error": f"no such control: {method} {path}"}
    return 200, {}
