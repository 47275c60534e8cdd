"""What goes wrong on purpose.

    faults.add("entries:write", kind="status", status=503, times=3)
    faults.add("timeSeries", kind="hang", seconds=20)           # until cleared
    faults.add("entries:write", kind="lost_answer")             # it is done, and the connection is reset
    faults.add("timeSeries", kind="partial", indexes=[0, 2])    # of one request these are rejected

Each rule is for requests whose path holds a word, and for a number of times. SPDX-License-Identifier: Apache-2.0
"""

import threading
from dataclasses import dataclass, field

KINDS = ("status", "hang", "reset", "drip", "garbage", "lost_answer", "partial")


@dataclass
class Fault:
    path: str
    kind: str
    times: float = float("inf")
    status: int = 503
    word: str = ""  # the status word of the error; by default that of the HTTP status
    seconds: float = 3600
    indexes: list = field(default_factory=list)
    seen: int = 0


class Faults:
    def __init__(self):
        self._lock = threading.Lock()
        self._rules = []
        self.ended = threading.Event()  # lets hanging requests go

    def add(self, path, kind, **how):
        assert kind in KINDS, kind
        with self._lock:
            self._rules.append(Fault(path, kind, **how))

    def clear(self):
        with self._lock:
            self._rules.clear()
            self.ended.set()
            self.ended = threading.Event()

    def take(self, path):
        """The rule for a request, counted; None when all is well."""
        with self._lock:
            for rule in self._rules:
                if rule.path in path and rule.seen < rule.times:
                    rule.seen += 1
                    return rule
        return None

    def left(self):
        """How many times rules that end are still to strike."""
        with self._lock:
            return sum(rule.times - rule.seen for rule in self._rules if rule.times != float("inf"))
