"""Cloud Logging: entries:write and entries:list, with their limits.

    logging.write(request, size, fault=None)      → {} or ApiError
    logging.list(request)                         → {"entries": […], "nextPageToken": "…"}
    logging.payloads("projects/p/logs/l")         → jsonPayloads in order, duplicates removed, for tests

SPDX-License-Identifier: Apache-2.0
"""

import itertools
import json
import secrets
import threading
import time

from .errors import ApiError, invalid, rpc_status
from .log_filter import compile_filter, time_ns
from .log_write import camel, checked_entry, read_write

PARTIAL = "type.googleapis.com/google.logging.v2.WriteLogEntriesPartialErrors"
LIST_FIELDS = {"resourceNames", "projectIds", "filter", "orderBy", "pageSize", "pageToken"}
MAX_PAGE = 1000  # the documentation says that more is rejected; the incumbent sends 1000000 and lives
DEFAULT_PAGE = 50


def _format(ns):
    seconds, rest = divmod(ns, 10**9)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest:09d}Z"


class CloudLogging:
    def __init__(self):
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._pages = {}  # page token → (its parameters, what is left)
        self.filters = []  # of every question
        self._lists = []  # when entries were listed
        self.entries = []  # as stored, in order of arrival
        self.retention_seconds = 30 * 86400
        self.lists_per_minute = 60
        self.visible_after_seconds = 0.0  # how long a written entry is not yet found
        self.empty_pages = 0  # so many pages are to come out empty, with a token
        self.writes = 0

    def write(self, request, size, fault=None):
        defaults, entries = read_write(request, size)
        now_ns = time.time_ns()
        good, errors = [], {}
        for index, entry in enumerate(entries):
            try:
                if fault is not None and index in fault.indexes:
                    raise ApiError("INTERNAL", "Internal error")
                good.append(checked_entry(entry, defaults, now_ns))
            except ApiError as error:
                errors[index] = error
        if errors and (not defaults.get("partialSuccess") or not good):
            raise next(iter(errors.values()))
        if not defaults.get("dryRun"):
            self._store(good, now_ns)
        if errors:
            first = next(iter(errors.values()))
            details = {"@type": PARTIAL, "logEntryErrors": {str(i): rpc_status(e) for i, e in errors.items()}}
            raise ApiError(first.status, f"{len(errors)} log entries were not written: {first.message}", [details])
        return {}

    def _store(self, entries, now_ns):
        with self._lock:
            self.writes += 1
            for entry in entries:
                number = next(self._numbers)
                entry.setdefault("timestamp", _format(now_ns + number % 1000))
                entry.setdefault("insertId", f"auto{number:012d}")
                entry["receiveTimestamp"] = _format(now_ns)
                if time_ns(entry["timestamp"]) >= now_ns - self.retention_seconds * 10**9:
                    self.entries.append(entry)

    def _found(self, resources, matches, newest_first):
        """Entries in order, duplicates removed."""
        limit_ns = time.time_ns() - int(self.visible_after_seconds * 1e9)
        with self._lock:
            entries = [e for e in self.entries if time_ns(e["receiveTimestamp"]) <= limit_ns]
        kept, seen = [], set()
        for entry in entries:
            key = (entry["logName"], time_ns(entry["timestamp"]), entry["insertId"])
            if key in seen or not any(entry["logName"].startswith(r + "/") for r in resources):
                continue
            seen.add(key)
            if matches(entry):
                kept.append(entry)
        kept.sort(key=lambda e: (time_ns(e["timestamp"]), e["insertId"]), reverse=newest_first)
        return kept

    def _count_list(self):
        now = time.monotonic()
        self._lists = [at for at in self._lists if at > now - 60] + [now]
        if len(self._lists) > self.lists_per_minute:
            raise ApiError("RESOURCE_EXHAUSTED", "Quota exceeded for quota metric 'Read requests'")

    def list(self, request):
        request = camel(request)
        if unknown := set(request) - LIST_FIELDS:
            raise invalid(f'Invalid JSON payload received. Unknown name "{min(unknown)}": Cannot find field.')
        with self._lock:
            self._count_list()
            self.filters.append(request.get("filter", ""))
        resources = request.get("resourceNames", []) + [f"projects/{p}" for p in request.get("projectIds", [])]
        size = int(request.get("pageSize", 0) or DEFAULT_PAGE)
        order = " ".join(request.get("orderBy", "timestamp asc").split()) or "timestamp asc"
        if not 1 <= len(resources) <= 100:
            raise invalid("Between 1 and 100 resource names are required.")
        if size < 0 or order not in ("timestamp asc", "timestamp desc", "timestamp"):
            raise invalid("Invalid page size or order.")
        parameters = json.dumps([resources, request.get("filter", ""), order])
        if token := request.get("pageToken"):
            known, left = self._pages.get(token, (None, []))
            if known != parameters:
                raise invalid("page_token doesn't match arguments from the request")
        else:
            left = self._found(resources, compile_filter(request.get("filter", "")), order.endswith("desc"))
        if self.empty_pages > 0:
            self.empty_pages -= 1
            return {"nextPageToken": self._page(parameters, left)}
        page, left = left[: min(size, MAX_PAGE)], left[min(size, MAX_PAGE) :]
        return {"entries": page, **({"nextPageToken": self._page(parameters, left)} if left else {})}

    def _page(self, parameters, left):
        token = secrets.token_urlsafe(16)
        self._pages[token] = (parameters, left)
        return token

    def payloads(self, log_name):
        found = self._found([log_name.partition("/logs/")[0]], lambda e: e["logName"] == log_name, False)
        return [entry["jsonPayload"] for entry in found]
