// What a Google credential file says: whose it is, and where its tokens come from.
//
//   ASSIGN_OR_RETURN(const CredentialFile file, read_credential_file("/etc/keys/trainer.json"));
//   if (const auto* key = std::get_if<ServiceAccountKey>(&file.kind)) use(key->client_email);
//
// Errors are one sentence that names the file and the field, and never the value of a secret. Pure but for the reading
// of the file. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"

namespace goodput::gcp {

struct ServiceAccountKey {
  std::string client_email, private_key, private_key_id, token_url;
};

/// A person's, made by `gcloud auth application-default login`.
struct AuthorizedUser {
  std::string client_id, client_secret, refresh_token, token_url;
  bool sends_secret_as_basic = false;  ///< external_account_authorized_user
};

/// Another identity provider's token, exchanged for Google's.
struct ExternalAccount {
  std::string audience, subject_token_type, token_url;
  std::string client_id, client_secret;  ///< empty: none
  std::string user_project;              ///< of a workforce pool; empty: none
  std::string file;                      ///< where the subject token is read anew each time …
  std::string url;                       ///< … or asked for; one of both is empty
  std::map<std::string, std::string> url_headers;
  std::string json_field;  ///< of the answer, where that is JSON; empty: all of it is the token
};

/// The machine's own, from its metadata server.
struct MachineAccount {};

struct CredentialFile;

/// A service account that another credential may act as.
struct Impersonation {
  std::string url;
  std::vector<std::string> delegates;
  int64_t lifetime_seconds = 3600;
  std::shared_ptr<const CredentialFile> source;
};

struct CredentialFile {
  std::variant<MachineAccount, ServiceAccountKey, AuthorizedUser, ExternalAccount, Impersonation> kind;
  std::string path;           ///< empty: no file
  std::string project;        ///< empty: the file names none
  std::string quota_project;  ///< empty: the file names none
};

/// kNotFound: there is no such file. kInvalidArgument: it is not what it should be.
Result<CredentialFile> read_credential_file(const std::string& path);
/// The same of its text.
Result<CredentialFile> parse_credential_file(std::string_view text, const std::string& path);

/// Who it is, for people: "service account a@p.iam.gserviceaccount.com of /etc/keys/a.json".
std::string describe(const CredentialFile& file);

}  // namespace goodput::gcp
