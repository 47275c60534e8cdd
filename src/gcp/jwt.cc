// SPDX-License-Identifier: Apache-2.0
#include "gcp/jwt.h"

#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/web_text.h"

namespace goodput::gcp {
namespace {

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeDigest {
  void operator()(EVP_MD_CTX* digest) const { EVP_MD_CTX_free(digest); }
};
struct FreeBytes {
  void operator()(BIO* bytes) const { BIO_free(bytes); }
};

/// A key that asks for a passphrase is refused, instead of asking at the terminal.
int no_passphrase(char*, int, int, void*) { return 0; }

std::unique_ptr<EVP_PKEY, FreeKey> read_key(std::string_view pem) {
  const std::unique_ptr<BIO, FreeBytes> bytes(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  if (bytes == nullptr) return nullptr;
  std::unique_ptr<EVP_PKEY, FreeKey> key(PEM_read_bio_PrivateKey(bytes.get(), nullptr, no_passphrase, nullptr));
  return key != nullptr && EVP_PKEY_get_base_id(key.get()) == EVP_PKEY_RSA ? std::move(key) : nullptr;
}

/// Empty when the library cannot.
std::string signature_of(std::string_view text, EVP_PKEY* key) {
  const std::unique_ptr<EVP_MD_CTX, FreeDigest> digest(EVP_MD_CTX_new());
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  size_t size = 0;
  if (digest == nullptr || EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, key) != 1 ||
      EVP_DigestSign(digest.get(), nullptr, &size, bytes, text.size()) != 1) {
    return {};
  }
  std::string signature(size, '\0');
  auto* to = reinterpret_cast<unsigned char*>(signature.data());
  if (EVP_DigestSign(digest.get(), to, &size, bytes, text.size()) != 1) return {};
  signature.resize(size);
  return signature;
}

}  // namespace

Result<std::string> sign_jwt(std::string_view key_pem, std::string_view key_id, std::string_view claims) {
  const auto key = read_key(key_pem);
  if (key == nullptr) return Status(StatusCode::kInvalidArgument, "it is not an RSA private key in PEM");
  nlohmann::ordered_json head = {{"alg", "RS256"}, {"typ", "JWT"}};
  if (!key_id.empty()) head["kid"] = key_id;
  const std::string head_text = head.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const std::string signed_text = base64(head_text, Base64::kUrl) + "." + base64(claims, Base64::kUrl);
  const std::string signature = signature_of(signed_text, key.get());
  if (signature.empty()) return Status(StatusCode::kInternal, "signing a token request with the key failed");
  return signed_text + "." + base64(signature, Base64::kUrl);
}

}  // namespace goodput::gcp
