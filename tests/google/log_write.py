"""Cloud Logging's checks of what is written.

    defaults, entries = read_write(request_object, body_bytes)
    entry = checked_entry(entries[0], defaults, now_ns)          # or ApiError, for this entry alone

SPDX-License-Identifier: Apache-2.0
"""

import json
import re
import urllib.parse

from .errors import invalid
from .log_filter import SEVERITIES, time_ns

MAX_REQUEST_BYTES = 10_000_000
MAX_ENTRY_BYTES = 256 * 1024
MAX_RESOURCES = 1000
MAX_LABELS = 64
MAX_LABEL_KEY_BYTES = 512
MAX_LABEL_VALUE_BYTES = 64 * 1024
MAX_AHEAD_NS = 24 * 3600 * 10**9
PAYLOADS = ("jsonPayload", "textPayload", "protoPayload")
KNOWN = {"logName", "resource", "timestamp", "receiveTimestamp", "severity", "insertId", "labels", *PAYLOADS}
KNOWN |= {"httpRequest", "operation", "trace", "spanId", "traceSampled", "sourceLocation", "split", "metadata"}
WRITE_FIELDS = {"logName", "resource", "labels", "entries", "partialSuccess", "dryRun"}
LOG_NAME = re.compile(r"(projects|folders|organizations|billingAccounts)/([^/]+)/logs/(.+)")


def camel(value):
    """Field names as protobuf's JSON takes them: snake_case means the same. What lies in payloads and labels stays."""
    return {re.sub(r"_(\w)", lambda m: m.group(1).upper(), key): item for key, item in value.items()}


def check_log_name(name):
    found = LOG_NAME.fullmatch(name)
    log = urllib.parse.unquote(found.group(3)) if found else ""
    if not found or len(log) >= 512 or not re.fullmatch(r"[A-Za-z0-9/_.\-]+", log):
        raise invalid(f"Invalid log name: {name}")
    return f"{found.group(1)}/{found.group(2)}/logs/{urllib.parse.quote(log, safe='')}"


def read_write(request, size):
    """The request's defaults and entries; ApiError for what spoils all of it."""
    request = camel(request)
    if unknown := set(request) - WRITE_FIELDS:
        raise invalid(f'Invalid JSON payload received. Unknown name "{min(unknown)}": Cannot find field.')
    if size > MAX_REQUEST_BYTES:
        raise invalid(f"Log entries write request size ({size} bytes) exceeds the limit of {MAX_REQUEST_BYTES} bytes.")
    entries = [camel(entry) for entry in request.get("entries", [])]
    if not entries:
        raise invalid("A write request must hold at least one entry.")
    resources = {json.dumps(e.get("resource", request.get("resource")), sort_keys=True) for e in entries}
    if len(resources) > MAX_RESOURCES:
        raise invalid(f"A write request may hold at most {MAX_RESOURCES} distinct resources.")
    return request, entries


def _severity(value):
    if isinstance(value, (int, float)):
        value = {level: word for word, level in SEVERITIES.items()}.get(int(value))
    if value not in SEVERITIES:
        raise invalid(f"Unknown severity: {value}")
    return value


def _labels(labels):
    if len(labels) > MAX_LABELS:
        raise invalid(f"A log entry may have at most {MAX_LABELS} labels.")
    for key, value in labels.items():
        if not isinstance(value, str) or len(key.encode()) > MAX_LABEL_KEY_BYTES:
            raise invalid(f"Invalid label: {key[:100]}")
    limit = MAX_LABEL_VALUE_BYTES
    return {k: v if len(v.encode()) <= limit else v[: limit - 3] + "..." for k, v in labels.items()}


def as_struct(value):
    """What a protobuf Struct makes of JSON: every number is a double."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        number = float(value)
        return int(number) if number.is_integer() and abs(number) < 2**63 else number
    if isinstance(value, list):
        return [as_struct(item) for item in value]
    return {key: as_struct(item) for key, item in value.items()}


def checked_entry(entry, defaults, now_ns):
    """As it is stored; ApiError when it is none."""
    if unknown := set(entry) - KNOWN:
        raise invalid(
            f"Invalid JSON payload received. Unknown name \"{min(unknown)}\" at 'entries': Cannot find field."
        )
    stored = dict(entry)
    for key in ("logName", "resource"):
        stored.setdefault(key, defaults.get(key))
        if not stored[key]:
            raise invalid(f"A log entry needs a {key}.")
    stored["logName"] = check_log_name(stored["logName"])
    if "type" not in stored["resource"]:
        raise invalid("A monitored resource needs a type.")
    stored["labels"] = _labels({**defaults.get("labels", {}), **entry.get("labels", {})})
    stored["severity"] = _severity(entry.get("severity", "DEFAULT"))
    if sum(key in entry for key in PAYLOADS) != 1:
        raise invalid("A log entry needs exactly one payload.")
    if "jsonPayload" in entry:
        if not isinstance(entry["jsonPayload"], dict):
            raise invalid("jsonPayload must be an object.")
        stored["jsonPayload"] = as_struct(entry["jsonPayload"])
    if len(json.dumps(entry)) > MAX_ENTRY_BYTES:
        raise invalid(f"Log entry with size {len(json.dumps(entry))} exceeds maximum size of {MAX_ENTRY_BYTES}")
    if "timestamp" in entry and time_ns(entry["timestamp"]) > now_ns + MAX_AHEAD_NS:
        raise invalid("Log entry timestamp is more than 24 hours in the future.")
    return stored
