"""The metadata server: what a machine on Google Cloud is told of itself.

    metadata.values["instance/zone"] = "projects/1/zones/us-east5-a"
    metadata.values.clear()                  # as on a machine that is not Google's

SPDX-License-Identifier: Apache-2.0
"""

BASE = "/computeMetadata/v1/"


class Metadata:
    def __init__(self, tokens):
        self._tokens = tokens
        self.values = {
            "project/project-id": "project-1",
            "instance/zone": "projects/12/zones/us-east5-a",
            "instance/machine-type": "projects/12/machineTypes/ct5p-hightpu-4t",
            "instance/id": "987654321",
            "universe/universe-domain": "googleapis.com",
        }

    def answer(self, path, headers):
        """(HTTP status, text or object)."""
        if headers.get("Metadata-Flavor") != "Google":
            return 403, "Missing Metadata-Flavor:Google header."
        path = path.removeprefix(BASE)
        if not self.values:
            return 404, ""
        if path == "instance/service-accounts/default/token":
            token = self._tokens.issue("machine")
            return 200, {
                "access_token": token,
                "expires_in": self._tokens.lifetime_seconds - 1,
                "token_type": "Bearer",
            }
        return (200, self.values[path]) if path in self.values else (404, "")
