// SPDX-License-Identifier: Apache-2.0
#include "gcp/credentials.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "gcp/gcloud_config.h"
#include "gcp/metadata.h"
#include "gcp/token_request.h"

namespace goodput::gcp {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
/// Google's own libraries ask for the next token this long before the end of the last.
constexpr int64_t kEarlyNs = 225 * kSecondNs;
/// While the last token still lives, a failed refresh is not repeated sooner.
constexpr int64_t kCalmNs = 10 * kSecondNs;

}  // namespace

struct Credentials::State {
  State(CredentialFile of, const CredentialsOptions& with)
      : file(std::move(of)),
        options(with),
        request(options.environment, *options.clock,
                {.timeout_ns = options.timeout_ns,
                 .first_retry_ns = options.first_retry_ns,
                 .is_cancelled = options.is_cancelled}) {}

  CredentialFile file;
  CredentialsOptions options;
  TokenRequest request;  // used by whoever has set is_asking

  std::mutex mutex;
  std::condition_variable changed;
  Token token{};
  Status failure{};        // of the last refresh
  uint64_t refreshes = 0;  // that have ended
  bool is_asking = false;
  int64_t not_before_boot_ns = 0;
};

Credentials::Credentials() = default;
Credentials::~Credentials() = default;

std::string gcloud_credential_path(const Environment& environment) {
  const std::string folder = gcloud_folder(environment);
  return folder.empty() ? folder : folder + "/application_default_credentials.json";
}

Result<std::shared_ptr<Credentials>> Credentials::find(const CredentialsOptions& options) {
  if (const auto named = options.environment("GOOGLE_APPLICATION_CREDENTIALS")) {
    Result<CredentialFile> file = read_credential_file(*named);
    if (file.ok()) return of(std::move(file).value(), options);
    return Status(file.status().code() == StatusCode::kNotFound ? StatusCode::kInvalidArgument : file.status().code(),
                  file.status().message() + " (GOOGLE_APPLICATION_CREDENTIALS names it)");
  }
  const std::string path = gcloud_credential_path(options.environment);
  if (!path.empty()) {
    Result<CredentialFile> file = read_credential_file(path);
    if (file.ok()) return of(std::move(file).value(), options);
    if (file.status().code() != StatusCode::kNotFound) return file.status();
  }
  if (has_no_metadata(options.environment)) {
    return Status(
        StatusCode::kNotFound,
        "looking for Google credentials: GOOGLE_APPLICATION_CREDENTIALS is not set, gcloud has left none, and "
        "NO_GCE_CHECK says that this machine is not Google's");
  }
  return of(CredentialFile{}, options);
}

std::shared_ptr<Credentials> Credentials::of(CredentialFile file, const CredentialsOptions& options) {
  std::shared_ptr<Credentials> made(new Credentials());
  made->description_ = describe(file);
  made->project_ = file.project;
  made->quota_project_ = options.environment("GOOGLE_CLOUD_QUOTA_PROJECT").value_or(file.quota_project);
  made->state_ = std::make_unique<State>(std::move(file), options);
  return made;
}

std::shared_ptr<Credentials> Credentials::anonymous() {
  std::shared_ptr<Credentials> made(new Credentials());
  made->description_ = "nobody's credentials";
  made->is_anonymous_ = true;
  return made;
}

Result<std::string> Credentials::token() {
  if (is_anonymous_) return std::string();
  State& state = *state_;
  const auto now_ns = [&] { return state.options.clock->boot_ns(); };
  const auto lives = [&] { return !state.token.text.empty() && state.token.expires_boot_ns > now_ns(); };
  const auto is_fresh = [&] { return lives() && state.token.expires_boot_ns - now_ns() > kEarlyNs; };

  std::unique_lock lock(state.mutex);
  if (is_fresh()) return state.token.text;
  if (lives() && (state.is_asking || now_ns() < state.not_before_boot_ns)) return state.token.text;
  if (state.is_asking) {
    const uint64_t seen = state.refreshes;
    state.changed.wait(lock, [&] { return state.refreshes != seen; });
    return lives() ? Result<std::string>(state.token.text) : Result<std::string>(state.failure);
  }
  state.is_asking = true;
  lock.unlock();
  Result<Token> fetched = state.request.send(state.file, state.options.scopes);
  lock.lock();
  state.is_asking = false;
  ++state.refreshes;
  state.failure = fetched.status();
  if (fetched.ok()) {
    state.token = std::move(fetched).value();
  } else {
    state.not_before_boot_ns = now_ns() + kCalmNs;
  }
  state.changed.notify_all();
  // A token that is as good as over is still the best there is: the server has the last word.
  if (state.failure.ok() || lives()) return state.token.text;
  return state.failure;
}

void Credentials::refuse(const std::string& token) {
  if (is_anonymous_) return;
  const std::lock_guard lock(state_->mutex);
  if (state_->token.text == token) state_->token = {};
}

}  // namespace goodput::gcp
