"""The part of Cloud Logging's query language that programs send: comparisons, AND, OR, NOT, parentheses.

    matches = compile_filter('severity=INFO AND jsonPayload.job_name="a \\"b\\""')
    matches({"severity": "INFO", "jsonPayload": {"job_name": 'a "b"'}})       # True

OR binds tighter than AND, as it does there; words side by side are joined by AND. SPDX-License-Identifier: Apache-2.0
"""

import datetime
import re
import urllib.parse

from .errors import invalid

TOKEN = re.compile(
    r"\s*(?:(?P<string>\"(?:[^\"\\]|\\.)*\")|(?P<op><=|>=|!=|=~|!~|=|<|>|:)|(?P<paren>[()])|(?P<minus>-(?=[\w(\"]))"
    r"|(?P<word>(?:[\w./+*\-]|\"(?:[^\"\\]|\\.)*\"(?=\.|\s*[=<>:!]))+))"
)
SEVERITIES = {"DEFAULT": 0, "DEBUG": 100, "INFO": 200, "NOTICE": 300, "WARNING": 400, "ERROR": 500, "CRITICAL": 600}
SEVERITIES |= {"ALERT": 700, "EMERGENCY": 800}
MAX_LENGTH = 20_000


def time_ns(text):
    """Nanoseconds of an RFC 3339 time, exactly."""
    found = re.fullmatch(
        r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(Z|z|[+-]\d\d:?\d\d)?", text.strip()
    )
    if found is None:
        raise invalid(f"Unparseable timestamp: {text}")
    date, clock, fraction, zone = found.groups()
    at = datetime.datetime.fromisoformat(f"{date}T{clock}+00:00")
    if zone and zone not in "Zz":
        at -= datetime.timedelta(hours=int(zone[:3]), minutes=int(zone[0] + zone[-2:]))
    return int(at.timestamp()) * 10**9 + int((fraction or "0").ljust(9, "0"))


def _tokens(text):
    at, found = 0, []
    text = text.rstrip()
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None or match.end() == at:
            raise invalid(f"Unparseable filter: syntax error at column {at + 1}, token '{text[at : at + 10]}'")
        found.append((match.lastgroup, match.group(match.lastgroup)))
        at = match.end()
    return found


def _plain(kind, text):
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if kind == "string" else text


class _Parser:
    def __init__(self, text):
        self.tokens, self.at = _tokens(text), 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def next(self):
        token = self.peek()
        self.at += 1
        return token

    def conjunction(self):
        terms = [self.disjunction()]
        while self.peek()[0] != "end" and self.peek()[1] != ")":
            if self.peek() == ("word", "AND"):
                self.next()
            terms.append(self.disjunction())
        return lambda entry: all(term(entry) for term in terms)

    def disjunction(self):
        terms = [self.negation()]
        while self.peek() == ("word", "OR"):
            self.next()
            terms.append(self.negation())
        return lambda entry: any(term(entry) for term in terms)

    def negation(self):
        if self.peek() == ("word", "NOT") or self.peek()[0] == "minus":
            self.next()
            term = self.negation()
            return lambda entry: not term(entry)
        if self.peek() == ("paren", "("):
            self.next()
            term = self.conjunction()
            if self.next() != ("paren", ")"):
                raise invalid("Unparseable filter: missing ')'")
            return term
        return self.comparison()

    def comparison(self):
        kind, name = self.next()
        if kind not in ("word", "string") or self.peek()[0] != "op":
            raise invalid(f"Unparseable filter: a comparison was expected at '{name}'")
        _, op = self.next()
        kind, value = self.next()
        if kind not in ("word", "string"):
            raise invalid(f"Unparseable filter: a value was expected at '{value}'")
        path = [
            _plain("string", part) if part[0] == '"' else part for part in re.findall(r'"(?:[^"\\]|\\.)*"|[^.]+', name)
        ]
        return _comparison(path, op, _plain(kind, value))


def _value(entry, path):
    for part in path:
        if not isinstance(entry, dict) or part not in entry:
            return None
        entry = entry[part]
    return entry


def _comparison(path, op, wanted):
    if path in (["timestamp"], ["receiveTimestamp"]):
        limit = time_ns(wanted)
        return lambda entry: _compare(time_ns(entry[path[0]]), op, limit)
    if path == ["severity"]:
        level = SEVERITIES.get(wanted.upper(), None)
        if level is None:
            raise invalid(f"Unknown severity: {wanted}")
        return lambda entry: _compare(SEVERITIES[entry.get("severity", "DEFAULT")], op, level)

    if path == ["logName"]:  # its log id encoded or not: Google's own client does not
        name = urllib.parse.unquote(wanted)
        return lambda entry: _compare(urllib.parse.unquote(entry["logName"]), op, name)

    def matches(entry):
        value = _value(entry, path)
        if value is None:
            return False
        if op == ":" and wanted == "*":
            return True
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            try:
                return _compare(value, "=" if op == ":" else op, float(wanted))
            except ValueError:
                return False
        text = str(value)
        if op in ("=~", "!~"):
            return (re.search(wanted, text) is not None) == (op == "=~")
        if op == ":":
            return wanted.lower() in text.lower()
        # Plain comparisons know no case; insertIds are compared as they are.
        return _compare(text, op, wanted) if path == ["insertId"] else _compare(text.lower(), op, wanted.lower())

    return matches


def _compare(value, op, wanted):
    return {
        "=": value == wanted,
        "!=": value != wanted,
        "<": value < wanted,
        "<=": value <= wanted,
        ">": value > wanted,
        ">=": value >= wanted,
        ":": value == wanted,
    }[op]


def compile_filter(text):
    """A function of an entry; INVALID_ARGUMENT for what cannot be parsed."""
    if len(text) > MAX_LENGTH:
        raise invalid(f"Filter is longer than {MAX_LENGTH} characters.")
    if not text.strip():
        return lambda entry: True
    parser = _Parser(text)
    matches = parser.conjunction()
    if parser.peek()[0] != "end":
        raise invalid(f"Unparseable filter: unexpected '{parser.peek()[1]}'")
    return matches
