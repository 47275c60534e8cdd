// SPDX-License-Identifier: Apache-2.0
#include "gcp/credential_file.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/foreign_json.h"
#include "base/web_text.h"
#include "gcp/read_text_file.h"

namespace goodput::gcp {
namespace {

using Json = nlohmann::json;

constexpr const char* kTokenUrl = "https://oauth2.googleapis.com/token";
constexpr const char* kExchangeUrl = "https://sts.googleapis.com/v1/token";

constexpr const char* kIsOfAws =
    "is that of an AWS credential, which is not supported: use a token in a file or at a URL, or a service account";

/// Reads the members of one object; the first mistake stands.
class Fields {
 public:
  Fields(const Json& object, std::string path, std::string prefix = "")
      : object_(object), path_(std::move(path)), prefix_(std::move(prefix)) {}

  /// Text that must be there.
  std::string text(const char* key) {
    std::string value = text_or(key, "");
    if (value.empty()) fail(key, "is missing");
    return value;
  }
  std::string text_or(const char* key, const char* otherwise) {
    const Json* value = find(key);
    if (value == nullptr) return otherwise;
    if (!value->is_string()) {
      fail(key, "is not a string");
      return otherwise;
    }
    return value->get<std::string>();
  }
  /// A URL that a secret may be sent to.
  std::string url_or(const char* key, const char* otherwise) {
    std::string value = text_or(key, otherwise);
    if (value.empty()) fail(key, "is missing");
    if (!value.empty() && is_overheard(value)) fail(key, "is not an https address");
    return value;
  }
  [[nodiscard]] const Json* find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  void fail(const std::string& key, const char* what) {
    if (!error_.ok()) return;
    error_ = Status(StatusCode::kInvalidArgument,
                    "reading the credential file " + path_ + ": the field \"" + prefix_ + key + "\" " + what);
  }
  [[nodiscard]] const Status& error() const { return error_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& prefix() const { return prefix_; }

 private:
  const Json& object_;
  std::string path_, prefix_;
  Status error_;
};

Result<CredentialFile> parse_object(const Json& object, const std::string& path, const std::string& prefix, int depth);

ServiceAccountKey service_account(Fields& fields) {
  return {.client_email = fields.text("client_email"),
          .private_key = fields.text("private_key"),
          .private_key_id = fields.text_or("private_key_id", ""),
          .token_url = fields.url_or("token_uri", kTokenUrl)};
}

AuthorizedUser authorized_user(Fields& fields) {
  return {.client_id = fields.text("client_id"),
          .client_secret = fields.text("client_secret"),
          .refresh_token = fields.text("refresh_token"),
          .token_url = fields.url_or("token_uri", kTokenUrl)};
}

AuthorizedUser external_user(Fields& fields) {
  return {.client_id = fields.text("client_id"),
          .client_secret = fields.text("client_secret"),
          .refresh_token = fields.text("refresh_token"),
          .token_url = fields.url_or("token_url", ""),
          .sends_secret_as_basic = true};
}

void read_format(Fields& source, ExternalAccount& account) {
  const Json* format = source.find("format");
  if (format == nullptr) return;
  if (!format->is_object()) return source.fail("format", "is not an object");
  Fields fields(*format, source.path(), source.prefix() + "format.");
  if (fields.text_or("type", "text") == "json") account.json_field = fields.text("subject_token_field_name");
  if (!fields.error().ok()) source.fail("format", "is not {\"type\": \"json\", \"subject_token_field_name\": …}");
}

void read_source(Fields& outer, ExternalAccount& account) {
  const Json* source = outer.find("credential_source");
  if (source == nullptr || !source->is_object()) return outer.fail("credential_source", "is not an object");
  Fields fields(*source, outer.path(), "credential_source.");
  // Such a source has a URL too: what it gives is the name of a role, not a token.
  if (fields.find("environment_id") != nullptr) return outer.fail("credential_source.environment_id", kIsOfAws);
  account.file = fields.text_or("file", "");
  account.url = fields.text_or("url", "");
  if (account.file.empty() == account.url.empty()) {
    return outer.fail("credential_source", "has neither a \"file\" nor a \"url\", the two that are supported");
  }
  if (const Json* headers = fields.find("headers"); headers != nullptr && headers->is_object()) {
    for (const auto& [name, value] : headers->items()) {
      if (value.is_string()) account.url_headers[name] = value.get<std::string>();
    }
  }
  read_format(fields, account);
  if (!fields.error().ok()) outer.fail("credential_source", "has a field of the wrong type");
}

ExternalAccount external_account(Fields& fields) {
  ExternalAccount account{.audience = fields.text("audience"),
                          .subject_token_type = fields.text("subject_token_type"),
                          .token_url = fields.url_or("token_url", kExchangeUrl),
                          .client_id = fields.text_or("client_id", ""),
                          .client_secret = fields.text_or("client_secret", ""),
                          .user_project = fields.text_or("workforce_pool_user_project", ""),
                          .file = {},
                          .url = {},
                          .url_headers = {},
                          .json_field = {}};
  if (account.subject_token_type.ends_with(":aws4_request")) fields.fail("subject_token_type", kIsOfAws);
  read_source(fields, account);
  return account;
}

/// An external account that names a service account acts as that one.
void impersonate(Fields& fields, CredentialFile& file) {
  Impersonation account{.url = fields.url_or("service_account_impersonation_url", ""),
                        .delegates = {},
                        .source = std::make_shared<CredentialFile>(file)};
  if (const Json* how = fields.find("service_account_impersonation"); how != nullptr && how->is_object()) {
    const auto lifetime = how->find("token_lifetime_seconds");
    if (lifetime != how->end() && lifetime->is_number_integer()) account.lifetime_seconds = lifetime->get<int64_t>();
  }
  file.kind = std::move(account);
}

Result<Impersonation> impersonated(Fields& fields, int depth) {
  Impersonation account{
      .url = fields.url_or("service_account_impersonation_url", ""), .delegates = {}, .source = nullptr};
  if (const Json* delegates = fields.find("delegates"); delegates != nullptr && delegates->is_array()) {
    for (const Json& name : *delegates) {
      if (name.is_string()) account.delegates.push_back(name.get<std::string>());
    }
  }
  const Json* source = fields.find("source_credentials");
  if (source == nullptr || !source->is_object()) {
    fields.fail("source_credentials", "is not an object");
    return fields.error();
  }
  ASSIGN_OR_RETURN(CredentialFile inner, parse_object(*source, fields.path(), "source_credentials.", depth + 1));
  account.source = std::make_shared<CredentialFile>(std::move(inner));
  return account;
}

Result<CredentialFile> parse_object(const Json& object, const std::string& path, const std::string& prefix, int depth) {
  Fields fields(object, path, prefix);
  CredentialFile file{.kind = {}, .path = path, .project = {}, .quota_project = {}};
  const std::string type = fields.text("type");
  RETURN_IF_ERROR(fields.error());
  constexpr int kMostSources = 4;  // of impersonation by impersonation
  if (type == "service_account") {
    file.kind = service_account(fields);
  } else if (type == "authorized_user") {
    file.kind = authorized_user(fields);
  } else if (type == "external_account_authorized_user") {
    file.kind = external_user(fields);
  } else if (type == "external_account") {
    file.kind = external_account(fields);
    if (fields.find("service_account_impersonation_url") != nullptr) impersonate(fields, file);
  } else if (type == "impersonated_service_account" && depth < kMostSources) {
    ASSIGN_OR_RETURN(file.kind, impersonated(fields, depth));
  } else {
    fields.fail("type",
                "is none that is supported: service_account, authorized_user, external_account, "
                "external_account_authorized_user, impersonated_service_account");
  }
  file.project = fields.text_or("project_id", "");
  file.quota_project = fields.text_or("quota_project_id", "");
  RETURN_IF_ERROR(fields.error());
  return file;
}

}  // namespace

Result<CredentialFile> parse_credential_file(std::string_view text, const std::string& path) {
  const Json object = parse_foreign_json<Json>(text);
  if (!object.is_object()) {
    return Status(StatusCode::kInvalidArgument, "reading the credential file " + path + ": it is not a JSON object");
  }
  return parse_object(object, path, "", 0);
}

Result<CredentialFile> read_credential_file(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, read_text_file(path, "reading the credential file " + path));
  return parse_credential_file(text, path);
}

std::string describe(const CredentialFile& file) {
  struct Describe {
    const CredentialFile& file;
    std::string operator()(const MachineAccount&) const { return "the service account of this machine"; }
    std::string operator()(const ServiceAccountKey& key) const {
      return "service account " + key.client_email + " of " + file.path;
    }
    std::string operator()(const AuthorizedUser&) const { return "a user's login in " + file.path; }
    std::string operator()(const ExternalAccount&) const { return "the external account of " + file.path; }
    std::string operator()(const Impersonation& account) const {
      // …/serviceAccounts/EMAIL:generateAccessToken
      const size_t slash = account.url.rfind('/');
      const std::string last = slash == std::string::npos ? account.url : account.url.substr(slash + 1);
      return "service account " + last.substr(0, last.rfind(':')) + ", impersonated by " + file.path;
    }
  };
  return std::visit(Describe{file}, file.kind);
}

}  // namespace goodput::gcp
