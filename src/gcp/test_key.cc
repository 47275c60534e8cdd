// SPDX-License-Identifier: Apache-2.0
#include "gcp/test_key.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/status.h"

namespace goodput::gcp {
namespace {

EVP_PKEY* key_of(void* key) { return static_cast<EVP_PKEY*>(key); }

const unsigned char* bytes(const std::string& text) { return reinterpret_cast<const unsigned char*>(text.data()); }

std::string from_base64url(std::string text) {
  for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
  const size_t padding = (4 - text.size() % 4) % 4;
  text.append(padding, '=');
  std::string out(text.size() / 4 * 3, '\0');
  const int size =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()), bytes(text), static_cast<int>(text.size()));
  CHECK(size >= 0);
  out.resize(static_cast<size_t>(size) - padding);
  return out;
}

}  // namespace

OpenedJwt open_jwt(const std::string& jwt) {
  const size_t first = jwt.find('.'), second = jwt.rfind('.');
  CHECK(first != std::string::npos && second > first);
  return {.signed_text = jwt.substr(0, second),
          .head = from_base64url(jwt.substr(0, first)),
          .claims = from_base64url(jwt.substr(first + 1, second - first - 1)),
          .signature = from_base64url(jwt.substr(second + 1))};
}

TestKey::TestKey() : key_(EVP_RSA_gen(2048)) { CHECK(key_ != nullptr); }
TestKey::~TestKey() { EVP_PKEY_free(key_of(key_)); }

std::string TestKey::pem() const {
  BIO* memory = BIO_new(BIO_s_mem());
  CHECK(PEM_write_bio_PKCS8PrivateKey(memory, key_of(key_), nullptr, nullptr, 0, nullptr, nullptr) == 1);
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory, &text);
  std::string out(text, static_cast<size_t>(size));
  BIO_free(memory);
  return out;
}

bool TestKey::verifies(const std::string& jwt) const {
  const OpenedJwt opened = open_jwt(jwt);
  EVP_MD_CTX* digest = EVP_MD_CTX_new();
  const bool is_good = EVP_DigestVerifyInit(digest, nullptr, EVP_sha256(), nullptr, key_of(key_)) == 1 &&
                       EVP_DigestVerify(digest, bytes(opened.signature), opened.signature.size(),
                                        bytes(opened.signed_text), opened.signed_text.size()) == 1;
  EVP_MD_CTX_free(digest);
  return is_good;
}

std::string TestKey::service_account(const std::string& email, const std::string& token_uri) const {
  return nlohmann::json{{"type", "service_account"}, {"project_id", "project-1"}, {"private_key_id", "key-1"},
                        {"private_key", pem()},      {"client_email", email},     {"token_uri", token_uri}}
      .dump();
}

void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

}  // namespace goodput::gcp
