// SPDX-License-Identifier: Apache-2.0
#include "base/http_client.h"

#include <curl/curl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "base/lower.h"

namespace goodput {
namespace {

constexpr int64_t kMillisecondNs = 1'000'000;

/// Where other systems than the one that this was built on keep the certificates that they trust.
const char* trusted_certificates() {
  for (const char* variable : {"SSL_CERT_FILE", "CURL_CA_BUNDLE"}) {
    const char* path = std::getenv(variable);
    if (path != nullptr && *path != '\0') return path;
  }
  constexpr std::array kPaths = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                 "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};
  const auto* found =
      std::find_if(kPaths.begin(), kPaths.end(), [](const char* path) { return ::access(path, R_OK) == 0; });
  return found == kPaths.end() ? nullptr : *found;
}

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// What the callbacks of one request write to.
struct Reception {
  HttpAnswer* answer;
  size_t max_bytes;
  bool is_too_long = false;
};

size_t take_body(const char* bytes, size_t, size_t count, void* to) {
  auto& reception = *static_cast<Reception*>(to);
  if (reception.answer->body.size() + count > reception.max_bytes) {
    reception.is_too_long = true;
    return 0;
  }
  reception.answer->body.append(bytes, count);
  return count;
}

size_t take_header(const char* bytes, size_t, size_t count, void* to) {
  auto& reception = *static_cast<Reception*>(to);
  const std::string_view line(bytes, count);
  // Of "100 Continue" and its like nothing is kept.
  if (line.substr(0, 5) == "HTTP/") reception.answer->headers.clear();
  constexpr size_t kMaxHeaders = 256;
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || reception.answer->headers.size() >= kMaxHeaders) return count;
  reception.answer->headers.emplace_back(lower(trimmed(line.substr(0, colon))), trimmed(line.substr(colon + 1)));
  return count;
}

int is_to_end(void* cancelled, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const std::atomic<bool>*>(cancelled)->load(std::memory_order_relaxed) ? 1 : 0;
}

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

bool append(HeaderList& list, const std::string& line) {
  curl_slist* longer = curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) return false;
  (void)list.release();
  list.reset(longer);
  return true;
}

HeaderList header_list(const HttpRequest& request) {
  HeaderList list;
  // Without a value curl leaves out what it would add by itself: a round trip before each long body.
  append(list, "Expect:");
  for (const auto& [name, value] : request.headers) append(list, name + (value.empty() ? ";" : ": " + value));
  return list;
}

}  // namespace

struct HttpClient::Handle {
  CURL* curl = nullptr;
  std::array<char, CURL_ERROR_SIZE> error{};
};

std::string_view HttpAnswer::header(std::string_view name) const {
  const auto found =
      std::find_if(headers.rbegin(), headers.rend(), [&](const auto& each) { return each.first == name; });
  return found == headers.rend() ? std::string_view() : std::string_view(found->second);
}

HttpClient::HttpClient(const HttpClientOptions& options) : handle_(std::make_unique<Handle>()), options_(options) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (ready == CURLE_OK) handle_->curl = curl_easy_init();
}

HttpClient::~HttpClient() { curl_easy_cleanup(handle_->curl); }

HttpAnswer HttpClient::send(const HttpRequest& request) {
  HttpAnswer answer;
  CURL* curl = handle_->curl;
  if (curl == nullptr) {
    answer.failure = "the HTTP library could not be started";
    return answer;
  }
  Reception reception{&answer, options_.max_answer_bytes};
  const HeaderList headers = header_list(request);
  handle_->error[0] = '\0';
  // Keeps the connections that are open.
  curl_easy_reset(curl);
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);  // a name server that hangs holds nobody
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, handle_->error.data());
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS,
                   static_cast<long>(std::max<int64_t>(1, options_.timeout_ns / kMillisecondNs)));
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(std::max<int64_t>(1, options_.connect_timeout_ns / kMillisecondNs)));
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "goodput");
  curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");  // whatever the library can unpack
  const char* certificates = options_.certificates.empty() ? trusted_certificates() : options_.certificates.c_str();
  if (certificates != nullptr) curl_easy_setopt(curl, CURLOPT_CAINFO, certificates);
  if (!options_.uses_proxy) curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reception);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &reception);
  if (options_.is_cancelled != nullptr) {
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, is_to_end);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, const_cast<std::atomic<bool>*>(options_.is_cancelled));
  }
  if (!request.body.empty() || request.method == "POST" || request.method == "PUT" || request.method == "PATCH") {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  }
  if (request.method == "HEAD") curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());

  const CURLcode code = curl_easy_perform(curl);
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  answer.status = static_cast<int>(status);
  if (reception.is_too_long) {
    answer.failure = "the answer is longer than " + std::to_string(options_.max_answer_bytes) + " bytes";
  } else if (code == CURLE_ABORTED_BY_CALLBACK) {
    answer.failure = "it was given up";
  } else if (code != CURLE_OK) {
    answer.failure = handle_->error[0] != '\0' ? handle_->error.data() : curl_easy_strerror(code);
  }
  return answer;
}

bool is_worth_a_retry(const HttpAnswer& answer) {
  if (!answer.failure.empty()) return true;
  constexpr std::array kPassing = {408, 429, 500, 502, 503, 504};
  return std::find(kPassing.begin(), kPassing.end(), answer.status) != kPassing.end();
}

int64_t retry_after_ns(const HttpAnswer& answer, int64_t wall_now_ns) {
  const std::string text(answer.header("retry-after"));
  constexpr int64_t kSecondNs = 1'000'000'000, kMostSeconds = 1'000'000'000;
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size()) {
    const time_t date = text.empty() ? -1 : curl_getdate(text.c_str(), nullptr);
    if (date == -1) return 0;
    seconds = static_cast<int64_t>(date) - wall_now_ns / kSecondNs;
  }
  return std::clamp<int64_t>(seconds, 0, kMostSeconds) * kSecondNs;
}

std::string without_credentials(std::string_view url) {
  const size_t query = url.find_first_of("?#");
  if (query != std::string_view::npos) return without_credentials(url.substr(0, query)) + url[query] + "…";
  const size_t scheme = url.find("://");
  const size_t host = scheme == std::string_view::npos ? 0 : scheme + 3;
  const size_t at = url.substr(0, url.find_first_of("/?#", host)).rfind('@');
  if (at == std::string_view::npos || at < host) return std::string(url);
  return std::string(url.substr(0, host)) + std::string(url.substr(at + 1));
}

}  // namespace goodput
