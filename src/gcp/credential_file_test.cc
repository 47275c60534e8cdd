// SPDX-License-Identifier: Apache-2.0
#include "gcp/credential_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "gcp/test_key.h"

namespace goodput::gcp {
namespace {

CredentialFile parsed(const std::string& text) {
  Result<CredentialFile> file = parse_credential_file(text, "/keys/a.json");
  EXPECT_TRUE(file.ok()) << file.status().message();
  return file.ok() ? std::move(file).value() : CredentialFile{};
}

TEST(CredentialFile, ServiceAccountSaysWhoItIs) {
  const CredentialFile file = parsed(R"({"type":"service_account","client_email":"a@p.iam.gserviceaccount.com",
      "private_key":"KEY","private_key_id":"k1","project_id":"p","quota_project_id":"q"})");
  const auto& key = std::get<ServiceAccountKey>(file.kind);
  EXPECT_EQ(key.client_email, "a@p.iam.gserviceaccount.com");
  EXPECT_EQ(key.private_key, "KEY");
  EXPECT_EQ(key.private_key_id, "k1");
  EXPECT_EQ(key.token_url, "https://oauth2.googleapis.com/token");
  EXPECT_EQ(file.project, "p");
  EXPECT_EQ(file.quota_project, "q");
  EXPECT_EQ(describe(file), "service account a@p.iam.gserviceaccount.com of /keys/a.json");
}

TEST(CredentialFile, ExternalAccountByFileAndByUrl) {
  const auto by_file = std::get<ExternalAccount>(
      parsed(
          R"({"type":"external_account","audience":"//iam","subject_token_type":"urn:ietf:params:oauth:token-type:jwt",
          "token_url":"https://sts.googleapis.com/v1/token","credential_source":{"file":"/var/run/token"}})")
          .kind);
  EXPECT_EQ(by_file.file, "/var/run/token");
  EXPECT_EQ(by_file.url, "");
  EXPECT_EQ(by_file.json_field, "");
  const auto by_url = std::get<ExternalAccount>(
      parsed(R"({"type":"external_account","audience":"//iam","subject_token_type":"t","credential_source":{
          "url":"http://169.254.169.254/token","headers":{"Metadata":"True"},
          "format":{"type":"json","subject_token_field_name":"access_token"}}})")
          .kind);
  EXPECT_EQ(by_url.url, "http://169.254.169.254/token");
  EXPECT_EQ(by_url.url_headers.at("Metadata"), "True");
  EXPECT_EQ(by_url.json_field, "access_token");
  EXPECT_EQ(by_url.token_url, "https://sts.googleapis.com/v1/token");
}

TEST(CredentialFile, ExternalAccountThatNamesAServiceAccountActsAsIt) {
  const CredentialFile file = parsed(R"({"type":"external_account","audience":"//iam","subject_token_type":"t",
      "credential_source":{"file":"/t"},"service_account_impersonation":{"token_lifetime_seconds":600},
      "service_account_impersonation_url":"https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/b@p:generateAccessToken"})");
  const auto& account = std::get<Impersonation>(file.kind);
  EXPECT_EQ(account.lifetime_seconds, 600);
  EXPECT_TRUE(std::holds_alternative<ExternalAccount>(account.source->kind));
  EXPECT_EQ(describe(file), "service account b@p, impersonated by /keys/a.json");
}

TEST(CredentialFile, ImpersonationHoldsItsSource) {
  const auto account = std::get<Impersonation>(
      parsed(
          R"({"type":"impersonated_service_account","delegates":["d"],"service_account_impersonation_url":"https://x/y",
          "source_credentials":{"type":"authorized_user","client_id":"i","client_secret":"s","refresh_token":"r"}})")
          .kind);
  EXPECT_EQ(account.delegates, std::vector<std::string>{"d"});
  EXPECT_EQ(std::get<AuthorizedUser>(account.source->kind).refresh_token, "r");
}

struct Wrong {
  const char* text;
  const char* says;
};

TEST(CredentialFile, WrongFilesAreNamedWithTheirField) {
  const Wrong wrongs[] = {
      {"", "it is not a JSON object"},
      {"[]", "it is not a JSON object"},
      {"{\"type\":", "it is not a JSON object"},
      {"{}", R"(the field "type" is missing)"},
      {R"({"type":7})", R"(the field "type" is not a string)"},
      {R"({"type":"gdch_service_account"})", R"(the field "type" is none that is supported)"},
      {R"({"type":"service_account","private_key":"K"})", R"(the field "client_email" is missing)"},
      {R"({"type":"service_account","client_email":"a"})", R"(the field "private_key" is missing)"},
      {R"({"type":"service_account","client_email":"a","private_key":7})",
       R"(the field "private_key" is not a string)"},
      {R"({"type":"service_account","client_email":"a","private_key":"K","token_uri":"http://example.com/token"})",
       R"(the field "token_uri" is not an https address)"},
      {R"({"type":"authorized_user","client_id":"i","client_secret":"s"})", R"(the field "refresh_token" is missing)"},
      {R"({"type":"external_account","audience":"a","subject_token_type":"t"})",
       R"(the field "credential_source" is not an object)"},
      {R"({"type":"external_account","audience":"a","subject_token_type":"t","credential_source":{"executable":{}}})",
       R"(the field "credential_source" has neither a "file" nor a "url")"},
      {R"({"type":"external_account","audience":"a","subject_token_type":"t","credential_source":
          {"environment_id":"aws1","url":"http://169.254.169.254/latest/meta-data/iam/security-credentials"}})",
       R"(the field "credential_source.environment_id" is that of an AWS credential, which is not supported)"},
      {R"({"type":"external_account","audience":"a","subject_token_type":"urn:ietf:params:aws:token-type:aws4_request",
          "credential_source":{"url":"http://169.254.169.254/role"}})",
       R"(the field "subject_token_type" is that of an AWS credential, which is not supported)"},
      {R"({"type":"external_account","audience":"a","subject_token_type":"t","credential_source":{"file":"f",
          "format":{"type":"json"}}})",
       R"(the field "credential_source" has a field of the wrong type)"},
      {R"({"type":"impersonated_service_account","service_account_impersonation_url":"https://x/y"})",
       R"(the field "source_credentials" is not an object)"},
      {R"({"type":"impersonated_service_account","service_account_impersonation_url":"https://x/y",
          "source_credentials":{"type":"authorized_user"}})",
       R"(the field "source_credentials.client_id" is missing)"},
  };
  for (const auto& [text, says] : wrongs) {
    const Status status = parse_credential_file(text, "/keys/a.json").status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(status.message(), testing::StartsWith("reading the credential file /keys/a.json: ")) << text;
    EXPECT_THAT(status.message(), testing::HasSubstr(says)) << text;
    EXPECT_EQ(status.message().find('\n'), std::string::npos);
  }
}

TEST(CredentialFile, AbsentAndLongFilesAreNotRead) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_credential_file(folder.path() + "/none").status().code(), StatusCode::kNotFound);
  write_text(folder.path() + "/long", std::string((1 << 20) + 1, ' '));
  const Status status = read_credential_file(folder.path() + "/long").status();
  EXPECT_EQ(status.message(), "reading the credential file " + folder.path() + "/long: it is longer than 1 MiB");
}

TEST(CredentialFile, EndlessNestingIsRefused) {
  std::string text = R"({"type":"authorized_user","client_id":"i","client_secret":"s","refresh_token":"r"})";
  for (int i = 0; i < 6; ++i) {
    text =
        R"({"type":"impersonated_service_account","service_account_impersonation_url":"https://x/y","source_credentials":)" +
        text + "}";
  }
  EXPECT_FALSE(parse_credential_file(text, "f").ok());
}

}  // namespace
}  // namespace goodput::gcp
