"""Errors as Google's APIs tell them.

    raise ApiError("RESOURCE_EXHAUSTED", "Quota exceeded", details=[why("RATE_LIMIT_EXCEEDED")])

SPDX-License-Identifier: Apache-2.0
"""

# Status word → (HTTP status, google.rpc.Code).
CODES = {
    "OK": (200, 0),
    "INVALID_ARGUMENT": (400, 3),
    "FAILED_PRECONDITION": (400, 9),
    "UNAUTHENTICATED": (401, 16),
    "PERMISSION_DENIED": (403, 7),
    "NOT_FOUND": (404, 5),
    "ALREADY_EXISTS": (409, 6),
    "RESOURCE_EXHAUSTED": (429, 8),
    "INTERNAL": (500, 13),
    "UNAVAILABLE": (503, 14),
    "DEADLINE_EXCEEDED": (504, 4),
}


class ApiError(Exception):
    def __init__(self, status, message, details=()):
        super().__init__(message)
        self.status, self.message, self.details = status, message, list(details)

    @property
    def http_status(self):
        return CODES[self.status][0]

    def body(self):
        error = {"code": self.http_status, "message": self.message, "status": self.status}
        if self.details:
            error["details"] = self.details
        return {"error": error}


def rpc_status(error):
    """The same as google.rpc.Status, as it stands inside of other messages."""
    return {"code": CODES[error.status][1], "message": error.message}


def why(reason):
    return {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com"}


def invalid(message):
    return ApiError("INVALID_ARGUMENT", message)
