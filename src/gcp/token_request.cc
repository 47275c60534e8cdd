// SPDX-License-Identifier: Apache-2.0
#include "gcp/token_request.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

#include "base/decimal.h"
#include "base/excerpt.h"
#include "base/foreign_json.h"
#include "base/time_text.h"
#include "base/web_text.h"
#include "gcp/api_error.h"
#include "gcp/jwt.h"
#include "gcp/read_text_file.h"

namespace goodput::gcp {
namespace {

using Json = nlohmann::json;

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int kAttempts = 3;
constexpr int kJwtLifeSeconds = 3600;
constexpr size_t kMostWordsBytes = 500;  // of what an endpoint says, in a message

std::string joined(std::span<const std::string> scopes, char separator) {
  std::string out;
  for (const std::string& scope : scopes) {
    if (!out.empty()) out.push_back(separator);
    out += scope;
  }
  return out;
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

HttpRequest form_request(const std::string& url, std::string body) {
  return {.method = "POST",
          .url = url,
          .headers = {{"Content-Type", "application/x-www-form-urlencoded"}},
          .body = std::move(body)};
}

std::pair<std::string, std::string> basic(const std::string& name, const std::string& secret) {
  return {"Authorization", "Basic " + base64(name + ":" + secret, Base64::kStandard)};
}

/// What a token endpoint says is wrong, and what to do about it.
std::string oauth_error(const HttpAnswer& answer) {
  const Json body = parse_foreign_json<Json>(answer.body);
  if (!body.is_object() || text_of(body, "error").empty()) {
    const std::optional<ApiError> error = read_api_error(answer);
    return error ? "HTTP " + std::to_string(answer.status) + ": " + error->message : "the answer holds no token";
  }
  const std::string error = text_of(body, "error");
  std::string words = excerpt(error, kMostWordsBytes);
  if (const std::string more = text_of(body, "error_description"); !more.empty())
    words += ": " + excerpt(more, kMostWordsBytes);
  if (text_of(body, "error_subtype") == "invalid_rapt") words += " (gcloud auth application-default login renews it)";
  if (error == "invalid_grant") words += " (revoked, expired, or the clock of this machine is minutes off)";
  return words;
}

/// Says that it is its own trouble, whatever the HTTP status.
bool is_passing_trouble(const HttpAnswer& answer) {
  if (is_worth_a_retry(answer)) return true;
  if (answer.ok()) return false;
  const Json body = parse_foreign_json<Json>(answer.body);
  const std::string error = body.is_object() ? text_of(body, "error") : "";
  return error == "internal_failure" || error == "server_error" || error == "temporarily_unavailable";
}

/// Seconds, as a number or as text.
std::optional<int64_t> lifetime_ns(const Json& body) {
  const auto found = body.find("expires_in");
  if (found == body.end()) return std::nullopt;
  constexpr int64_t kMostNs = 86'400 * kSecondNs;
  const std::string text = found->is_string() ? found->get<std::string>() : dump(*found);
  const std::optional<Decimal> seconds = parse_json_number(text);
  return seconds ? to_nanoseconds(*seconds, kMostNs) : std::nullopt;
}

/// Waits, and looks now and then whether it is to end early. False: it is.
bool wait_unless_cancelled(int64_t pause_ns, const std::atomic<bool>* is_cancelled) {
  constexpr int64_t kSliceNs = 100'000'000;
  const int64_t until_ns = boot_time_ns() + pause_ns;
  while (is_cancelled == nullptr || !is_cancelled->load()) {
    const int64_t left_ns = until_ns - boot_time_ns();
    if (left_ns <= 0) return true;
    std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(left_ns, kSliceNs)));
  }
  return false;
}

}  // namespace

TokenRequest::TokenRequest(const Environment& environment, const Clock& clock, const TokenRequestOptions& options)
    : clock_(&clock),
      options_(options),
      metadata_(environment, {.timeout_ns = std::min(options.timeout_ns, metadata_timeout_ns(environment)),
                              .is_cancelled = options.is_cancelled}),
      client_({.timeout_ns = options.timeout_ns, .max_answer_bytes = 1 << 20, .is_cancelled = options.is_cancelled}) {}

/// Up to three times, with pauses that double, while `is_passing` says that it may get better.
template <typename Try, typename IsPassing>
auto TokenRequest::repeat(Try attempt, IsPassing is_passing) {
  int64_t pause_ns = options_.first_retry_ns;
  for (int left = kAttempts - 1;; --left, pause_ns *= 2) {
    auto outcome = attempt();
    if (left == 0 || !is_passing(outcome) || !wait_unless_cancelled(pause_ns, options_.is_cancelled)) return outcome;
  }
}

HttpAnswer TokenRequest::send_with_retries(const HttpRequest& request) {
  return repeat([&] { return client_.send(request); }, is_passing_trouble);
}

Result<Token> TokenRequest::read_token(std::string_view body, const std::string& doing) const {
  const Json object = parse_foreign_json<Json>(body);
  if (!object.is_object() || text_of(object, "access_token").empty()) {
    return Status(StatusCode::kUnavailable, doing + ": the answer holds no token");
  }
  // Most tokens live an hour; one that does not say how long is asked for again soon.
  constexpr int64_t kUnsaidNs = 300 * kSecondNs;
  return Token{.text = text_of(object, "access_token"),
               .expires_boot_ns = clock_->boot_ns() + lifetime_ns(object).value_or(kUnsaidNs)};
}

Result<Token> TokenRequest::exchange(const HttpRequest& request, const std::string& doing) {
  const HttpAnswer answer = send_with_retries(request);
  if (!answer.failure.empty()) return Status(StatusCode::kUnavailable, doing + ": " + answer.failure);
  if (answer.ok()) return read_token(answer.body, doing);
  return Status(is_passing_trouble(answer) ? StatusCode::kUnavailable : StatusCode::kPermissionDenied,
                doing + ": " + oauth_error(answer));
}

Result<Token> TokenRequest::send(const CredentialFile& file, std::span<const std::string> scopes) {
  return std::visit([&](const auto& kind) { return ask(file, kind, scopes); }, file.kind);
}

Result<Token> TokenRequest::ask(const CredentialFile&, const MachineAccount&, std::span<const std::string> scopes) {
  const std::string path = "instance/service-accounts/default/token?scopes=" + percent_encoded(joined(scopes, ','));
  const Result<std::string> answer =
      repeat([&] { return metadata_.read(path); },
             [](const Result<std::string>& read) { return read.status().code() == StatusCode::kUnavailable; });
  if (answer.ok()) return read_token(*answer, "asking the metadata server for a token");
  return Status(answer.status().code(),
                answer.status().message() +
                    " (elsewhere than on Google Cloud, GOOGLE_APPLICATION_CREDENTIALS names a credential file)");
}

Result<Token> TokenRequest::ask(const CredentialFile& file, const ServiceAccountKey& key,
                                std::span<const std::string> scopes) {
  const int64_t now = clock_->wall_ns() / kSecondNs;
  const Json claims = {{"iss", key.client_email},
                       {"scope", joined(scopes, ' ')},
                       {"aud", key.token_url},
                       {"iat", now},
                       {"exp", now + kJwtLifeSeconds}};
  const Result<std::string> jwt = sign_jwt(key.private_key, key.private_key_id, dump(claims));
  if (!jwt.ok()) {
    return Status(jwt.status().code(), "reading the credential file " + file.path +
                                           ": the field \"private_key\": " + jwt.status().message());
  }
  return exchange(form_request(key.token_url, form({{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"},
                                                    {"assertion", *jwt}})),
                  "asking " + key.token_url + " for a token of " + key.client_email);
}

Result<Token> TokenRequest::ask(const CredentialFile& file, const AuthorizedUser& user, std::span<const std::string>) {
  // Without a scope: a login's token has those that were agreed to, and asking for others fails.
  const std::string doing = "asking " + user.token_url + " for a token of the login in " + file.path;
  if (!user.sends_secret_as_basic) {
    return exchange(form_request(user.token_url, form({{"grant_type", "refresh_token"},
                                                       {"client_id", user.client_id},
                                                       {"client_secret", user.client_secret},
                                                       {"refresh_token", user.refresh_token}})),
                    doing);
  }
  HttpRequest request =
      form_request(user.token_url, form({{"grant_type", "refresh_token"}, {"refresh_token", user.refresh_token}}));
  request.headers.push_back(basic(user.client_id, user.client_secret));
  return exchange(request, doing);
}

/// Read or asked for anew each time: it rotates.
Result<std::string> TokenRequest::subject_token(const CredentialFile& file, const ExternalAccount& account) {
  std::string text;
  const std::string where = account.file.empty() ? account.url : account.file;
  const std::string doing = "reading the token " + where + " that " + file.path + " names";
  if (!account.file.empty()) {
    ASSIGN_OR_RETURN(text, read_text_file(account.file, doing));
  } else {
    HttpRequest request{.url = account.url};
    for (const auto& header : account.url_headers) request.headers.push_back(header);
    HttpAnswer answer = send_with_retries(request);
    if (const auto error = read_api_error(answer)) return error->to_status(doing);
    text = std::move(answer.body);
  }
  if (!account.json_field.empty()) {
    const Json object = parse_foreign_json<Json>(text);
    text = object.is_object() ? text_of(object, account.json_field.c_str()) : "";
    if (text.empty()) {
      return Status(StatusCode::kInvalidArgument,
                    doing + ": it is not JSON with the field \"" + account.json_field + "\"");
    }
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  if (text.empty()) return Status(StatusCode::kInvalidArgument, doing + ": it is empty");
  return text;
}

Result<Token> TokenRequest::ask(const CredentialFile& file, const ExternalAccount& account,
                                std::span<const std::string> scopes) {
  ASSIGN_OR_RETURN(const std::string subject, subject_token(file, account));
  std::string body = form({{"grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"},
                           {"audience", account.audience},
                           {"scope", joined(scopes, ' ')},
                           {"requested_token_type", "urn:ietf:params:oauth:token-type:access_token"},
                           {"subject_token", subject},
                           {"subject_token_type", account.subject_token_type}});
  if (!account.user_project.empty() && account.client_id.empty()) {
    body += "&" + form({{"options", percent_encoded(dump(Json{{"userProject", account.user_project}}))}});
  }
  HttpRequest request = form_request(account.token_url, std::move(body));
  if (!account.client_id.empty()) request.headers.push_back(basic(account.client_id, account.client_secret));
  return exchange(request, "exchanging the token of " + file.path + " at " + account.token_url);
}

Result<Token> TokenRequest::ask(const CredentialFile& file, const Impersonation& account,
                                std::span<const std::string> scopes) {
  // The source only needs the right to impersonate; a login or a machine has the scopes that it has.
  const std::string scope = std::holds_alternative<ExternalAccount>(account.source->kind)
                                ? "https://www.googleapis.com/auth/iam"
                                : "https://www.googleapis.com/auth/cloud-platform";
  ASSIGN_OR_RETURN(const Token source, send(*account.source, std::span(&scope, 1)));
  const Json body = {{"delegates", account.delegates},
                     {"scope", std::vector<std::string>(scopes.begin(), scopes.end())},
                     {"lifetime", std::to_string(account.lifetime_seconds) + "s"}};
  const HttpRequest request{
      .method = "POST",
      .url = account.url,
      .headers = {{"Content-Type", "application/json"}, {"Authorization", "Bearer " + source.text}},
      .body = dump(body)};
  const std::string doing = "impersonating by " + file.path + " at " + account.url;
  const HttpAnswer answer = send_with_retries(request);
  if (const auto error = read_api_error(answer)) return error->to_status(doing);
  const Json object = parse_foreign_json<Json>(answer.body);
  const std::string text = object.is_object() ? text_of(object, "accessToken") : "";
  const std::optional<int64_t> expires_ns = text.empty() ? std::nullopt : parse_rfc3339(text_of(object, "expireTime"));
  if (!expires_ns) return Status(StatusCode::kUnavailable, doing + ": the answer holds no token");
  const ClockPair now = read_pair(*clock_);
  return Token{.text = text, .expires_boot_ns = now.boot_ns + (*expires_ns - now.wall_ns)};
}

}  // namespace goodput::gcp
