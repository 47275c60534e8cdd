// A service account's key and file, made anew; for tests.
//
//   TestKey key;
//   write_text(path, key.service_account("me@p.iam.gserviceaccount.com", google.url("/token")));
//   EXPECT_TRUE(key.verifies(jwt));
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace goodput::gcp {

/// The parts of a token: what is signed, and head, claims (JSON) and signature decoded.
struct OpenedJwt {
  std::string signed_text, head, claims, signature;
};
OpenedJwt open_jwt(const std::string& jwt);

class TestKey {
 public:
  TestKey();
  ~TestKey();
  TestKey(const TestKey&) = delete;
  TestKey& operator=(const TestKey&) = delete;

  [[nodiscard]] std::string pem() const;
  [[nodiscard]] bool verifies(const std::string& jwt) const;
  /// A credential file of project-1.
  [[nodiscard]] std::string service_account(const std::string& email, const std::string& token_uri) const;

 private:
  void* key_;  ///< EVP_PKEY
};

void write_text(const std::string& path, const std::string& text);

}  // namespace goodput::gcp
