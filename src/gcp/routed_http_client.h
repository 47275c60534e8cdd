// An HttpClient that takes the way which an address wants.
//
//   RoutedHttpClient client({.timeout_ns = 10 * kSecond});
//   client.send({.url = "https://sts.googleapis.com/v1/token"});   // by the proxy that the environment names, if any
//   client.send({.url = "http://127.0.0.1:8080/token"});           // directly
//
// What Google is asked goes over https. A plain address is one of this machine or its network, as that of a token's
// issuer beside the program or of an emulator, which a proxy cannot reach, and to which it would show secrets.
// One thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/http_client.h"

namespace goodput::gcp {

class RoutedHttpClient {
 public:
  /// As HttpClient; `uses_proxy` is decided here.
  explicit RoutedHttpClient(HttpClientOptions options)
      : usual_(with_proxy(options, true)), direct_(with_proxy(options, false)) {}

  HttpAnswer send(const HttpRequest& request) {
    return (std::string_view(request.url).starts_with("https://") ? usual_ : direct_).send(request);
  }

 private:
  static HttpClientOptions with_proxy(HttpClientOptions options, bool uses_proxy) {
    options.uses_proxy = uses_proxy;
    return options;
  }

  HttpClient usual_, direct_;
};

}  // namespace goodput::gcp
