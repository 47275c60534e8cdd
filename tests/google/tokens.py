"""The token endpoints: who gets a token, and whether one is good.

    tokens.trust("me@p.iam.gserviceaccount.com", public_key_pem)
    token = tokens.answer("/token", body)["access_token"]
    tokens.check("Bearer " + token)
    tokens.expire_all()                       # APIs now answer 401

Signatures of service accounts are verified by the openssl command. SPDX-License-Identifier: Apache-2.0
"""

import base64
import itertools
import json
import subprocess
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

from .errors import ApiError

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"


class OAuthError(Exception):
    def __init__(self, error, description):
        super().__init__(description)
        self.body = {"error": error, "error_description": description}


def _decode(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _is_signed(signed, signature, public_key):
    with tempfile.TemporaryDirectory() as folder:
        key, sign = Path(folder, "key.pem"), Path(folder, "signature")
        key.write_text(public_key)
        sign.write_bytes(signature)
        command = ["openssl", "dgst", "-sha256", "-verify", key, "-signature", sign]
        return subprocess.run(command, input=signed.encode(), capture_output=True).returncode == 0


class Tokens:
    def __init__(self):
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._alive = {}  # token → when it ends
        self._accounts = {}  # e-mail → public key
        self.lifetime_seconds = 3600
        self.allows_anonymous = False
        self.issued = 0

    def trust(self, email, public_key):
        self._accounts[email] = public_key

    def issue(self, who):
        with self._lock:
            self.issued += 1
            token = f"ya29.{who}-{next(self._numbers)}"
            self._alive[token] = time.time() + self.lifetime_seconds
        return token

    def expire_all(self):
        with self._lock:
            self._alive.clear()

    def check(self, authorization):
        """Raises 401 for what is no good token."""
        if authorization is None and self.allows_anonymous:
            return
        kind, _, token = (authorization or "").partition(" ")
        with self._lock:
            ends = self._alive.get(token, 0)
        if kind != "Bearer" or ends <= time.time():
            raise ApiError("UNAUTHENTICATED", "Request had invalid authentication credentials.")

    def answer(self, url, body):
        """Of the endpoint `url`, to a form."""
        form = {name: values[0] for name, values in urllib.parse.parse_qs(body.decode()).items()}
        grant = form.get("grant_type")
        if grant == JWT_BEARER:
            who = self._signer(form.get("assertion", ""), url)
        elif grant == "refresh_token":
            who = "user"
            if form.get("refresh_token") == "revoked":
                raise OAuthError("invalid_grant", "Token has been expired or revoked.")
        elif grant == EXCHANGE:
            who = "external"
            if not form.get("subject_token") or not form.get("audience"):
                raise OAuthError("invalid_request", "subject_token and audience are required.")
        else:
            raise OAuthError("unsupported_grant_type", f"Invalid grant_type: {grant}")
        return {"access_token": self.issue(who), "expires_in": self.lifetime_seconds, "token_type": "Bearer"}

    def _signer(self, assertion, url):
        parts = assertion.split(".")
        if len(parts) != 3:
            raise OAuthError("invalid_request", "Bad assertion.")
        head, claims = (json.loads(_decode(part)) for part in parts[:2])
        key = self._accounts.get(claims.get("iss"))
        now = time.time()
        if head.get("alg") != "RS256" or key is None:
            raise OAuthError("invalid_client", "The OAuth client was not found.")
        if not _is_signed(".".join(parts[:2]), _decode(parts[2]), key):
            raise OAuthError("invalid_grant", "Invalid JWT Signature.")
        if claims.get("aud") != url or not claims.get("scope"):
            raise OAuthError("invalid_request", "Invalid audience or scope.")
        if abs(claims["iat"] - now) > 300 or claims["exp"] - claims["iat"] > 3600:
            raise OAuthError("invalid_grant", "Invalid JWT: Token must be a short-lived token (60 minutes).")
        return claims["iss"]
