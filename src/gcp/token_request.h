// Asks for a token, whatever kind of credential it takes.
//
//   TokenRequest request(environment, system_clock(), {});
//   Result<Token> token = request.send(file, {kCloudPlatformScope});
//
// Every call asks anew: gcp/credentials.h keeps tokens. Transient failures are tried three times; what is left of them
// is kUnavailable, a refusal kPermissionDenied or as ApiError::to_status has it; a key or a token file that is no good
// has the code of its own trouble (kInvalidArgument, kNotFound, kUnreadable), as has a metadata server that is none
// (kNotFound). Each is one sentence without a secret in it. One thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/environment.h"
#include "base/http_client.h"
#include "base/status.h"
#include "gcp/credential_file.h"
#include "gcp/metadata.h"
#include "gcp/routed_http_client.h"

namespace goodput::gcp {

struct Token {
  std::string text;
  int64_t expires_boot_ns = 0;
};

struct TokenRequestOptions {
  int64_t timeout_ns = 10'000'000'000;              ///< of one question
  int64_t first_retry_ns = 1'000'000'000;           ///< doubles
  const std::atomic<bool>* is_cancelled = nullptr;  ///< ends a question, and a pause between two, early
};

class TokenRequest {
 public:
  TokenRequest(const Environment& environment, const Clock& clock, const TokenRequestOptions& options);

  Result<Token> send(const CredentialFile& file, std::span<const std::string> scopes);

 private:
  Result<Token> ask(const CredentialFile& file, const MachineAccount& account, std::span<const std::string> scopes);
  Result<Token> ask(const CredentialFile& file, const ServiceAccountKey& key, std::span<const std::string> scopes);
  Result<Token> ask(const CredentialFile& file, const AuthorizedUser& user, std::span<const std::string> scopes);
  Result<Token> ask(const CredentialFile& file, const ExternalAccount& account, std::span<const std::string> scopes);
  Result<Token> ask(const CredentialFile& file, const Impersonation& account, std::span<const std::string> scopes);

  Result<std::string> subject_token(const CredentialFile& file, const ExternalAccount& account);
  Result<Token> exchange(const HttpRequest& request, const std::string& doing);
  Result<Token> read_token(std::string_view body, const std::string& doing) const;
  HttpAnswer send_with_retries(const HttpRequest& request);
  template <typename Try, typename IsPassing>
  auto repeat(Try attempt, IsPassing is_passing);

  const Clock* clock_;
  TokenRequestOptions options_;
  MetadataServer metadata_;
  RoutedHttpClient client_;
};

}  // namespace goodput::gcp
