"""A cloud logger as consumers pass one: entries in, payloads out.

SPDX-License-Identifier: Apache-2.0
"""

import itertools


class CloudLog:
    """With a cursor, like a log service: what follows the last entry read, and that entry's (time, id)."""

    def __init__(self, entries=()):
        self.entries = list(entries)
        self.reads = []

    def write_cloud_logging_entry(self, entry):
        self.entries.append(entry)

    def read_cloud_logging_entries(self, start_time=None, end_time=None, last_entry_info=None):  # NOLINT(name)
        first = 0 if last_entry_info is None else last_entry_info[1]
        read = list(itertools.islice(self.entries, first, None))
        self.reads.append(len(read))
        cursor = (end_time or "a time", len(self.entries)) if read else (None, None)
        return read, cursor


class WholeLog(CloudLog):
    """Gives all entries at every reading, and no cursor."""

    def read_cloud_logging_entries(self, start_time=None, end_time=None, last_entry_info=None):  # NOLINT(name)
        return list(self.entries), None
