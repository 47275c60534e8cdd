// Who this program is to Google: Application Default Credentials, and a token that is fresh.
//
//   Result<std::shared_ptr<Credentials>> who = Credentials::find({});
//   Result<std::string> token = (*who)->token();          // "ya29.…", for "Authorization: Bearer …"
//   (*who)->refuse(*token);                               // a server said 401: the next one is asked for anew
//
// Looked for in the file that GOOGLE_APPLICATION_CREDENTIALS names, in gcloud's own file, and at the metadata server.
// Thread-safe: of several that need a token one asks for it. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/environment.h"
#include "base/status.h"
#include "gcp/credential_file.h"

namespace goodput::gcp {

constexpr const char* kCloudPlatformScope = "https://www.googleapis.com/auth/cloud-platform";

struct CredentialsOptions {
  std::vector<std::string> scopes = {kCloudPlatformScope};
  Environment environment = system_environment();
  const Clock* clock = &system_clock();             ///< outlives the credentials
  int64_t timeout_ns = 10'000'000'000;              ///< of one question to whoever gives tokens
  int64_t first_retry_ns = 1'000'000'000;           ///< before a question is asked again
  const std::atomic<bool>* is_cancelled = nullptr;  ///< ends waiting early; outlives the credentials
};

class Credentials {
 public:
  /// By the search order above. Asks nobody: that the metadata server is not there shows when a token is wanted.
  /// kNotFound: there are none, and NO_GCE_CHECK rules the metadata server out. A file that was named and is not there,
  /// or is wrong, is an error, not passed over.
  static Result<std::shared_ptr<Credentials>> find(const CredentialsOptions& options);
  /// Of this file.
  static std::shared_ptr<Credentials> of(CredentialFile file, const CredentialsOptions& options);
  /// Nobody's, for emulators: requests carry no token.
  static std::shared_ptr<Credentials> anonymous();

  ~Credentials();

  /// Valid now; empty for nobody's. May take as long as a few questions do, when the token at hand has less than
  /// 3 min 45 s to live; while it lives, trouble with a new one is no failure.
  Result<std::string> token();
  /// `token` was answered by 401: it is not given out again.
  void refuse(const std::string& token);

  /// Where they come from, for people.
  [[nodiscard]] const std::string& description() const { return description_; }
  [[nodiscard]] bool is_anonymous() const { return is_anonymous_; }
  /// Whom to bill, for the header x-goog-user-project; empty: nobody in particular.
  [[nodiscard]] const std::string& quota_project() const { return quota_project_; }
  /// The project that the file names; empty: none.
  [[nodiscard]] const std::string& project() const { return project_; }

 private:
  struct State;
  Credentials();

  std::string description_, quota_project_, project_;
  bool is_anonymous_ = false;
  std::unique_ptr<State> state_;
};

/// The well-known file of gcloud; empty when there is no home to look in.
std::string gcloud_credential_path(const Environment& environment);

}  // namespace goodput::gcp
