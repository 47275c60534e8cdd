// SPDX-License-Identifier: Apache-2.0
#include "gcp/jwt.h"

#include <gtest/gtest.h>

#include "gcp/test_key.h"

namespace goodput::gcp {
namespace {

TEST(Jwt, IsSignedSoThatItsPublicKeyVerifiesItAndNoOther) {
  const TestKey key, other;
  const Result<std::string> jwt = sign_jwt(key.pem(), "key-1", R"({"iss":"me","exp":5})");
  ASSERT_TRUE(jwt.ok()) << jwt.status().message();
  EXPECT_TRUE(key.verifies(*jwt));
  EXPECT_FALSE(other.verifies(*jwt));
  const OpenedJwt opened = open_jwt(*jwt);
  EXPECT_EQ(opened.head, R"({"alg":"RS256","typ":"JWT","kid":"key-1"})");
  EXPECT_EQ(opened.claims, R"({"iss":"me","exp":5})");
  EXPECT_EQ(jwt->find_first_of("+/="), std::string::npos);
}

TEST(Jwt, WithoutAKeyIdNoneIsNamed) {
  const TestKey key;
  EXPECT_EQ(open_jwt(*sign_jwt(key.pem(), "", "{}")).head, R"({"alg":"RS256","typ":"JWT"})");
}

TEST(Jwt, WhatIsNoRsaKeyIsRefusedWithoutQuotingIt) {
  const TestKey key;
  const std::string cut = key.pem().substr(0, key.pem().size() / 2);
  for (const std::string& pem : {std::string(), std::string("secret"), cut}) {
    const Result<std::string> jwt = sign_jwt(pem, "k", "{}");
    ASSERT_FALSE(jwt.ok());
    EXPECT_EQ(jwt.status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(jwt.status().message(), "it is not an RSA private key in PEM");
  }
}

}  // namespace
}  // namespace goodput::gcp
