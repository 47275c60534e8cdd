// A JSON Web Token signed with a service account's key: what Google takes for a token request, or for a token.
//
//   Result<std::string> jwt = sign_jwt(key_pem, key_id, R"({"iss":"me@p.iam.gserviceaccount.com","aud":"…"})");
//
// RS256: RSASSA-PKCS1-v1_5 with SHA-256. Thread-safe, nothing kept; no message ever holds a part of the key.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace goodput::gcp {

/// `key_pem` is a private RSA key in PKCS#8 or PKCS#1, `claims` a JSON object. kInvalidArgument: it is no such key.
Result<std::string> sign_jwt(std::string_view key_pem, std::string_view key_id, std::string_view claims);

}  // namespace goodput::gcp
