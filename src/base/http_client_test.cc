// SPDX-License-Identifier: Apache-2.0
#include "base/http_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <mutex>

#include "base/loopback_server.h"

namespace goodput {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(HttpClient, SendsMethodHeadersAndBodyAndReadsTheAnswer) {
  std::string seen;
  std::mutex mutex;
  LoopbackServer server([&](int connection) {
    const std::string request = read_request(connection);
    const std::lock_guard lock(mutex);
    seen = request;
    say(connection, "HTTP/1.1 429 Slow Down\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nlate");
  });
  HttpClient client({});
  const HttpAnswer answer = client.send({.method = "POST",
                                         .url = server.url("/v1?a=b"),
                                         .headers = {{"X-Kind", "one"}, {"X-Empty", ""}},
                                         .body = "12345"});
  EXPECT_EQ(answer.failure, "");
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.body, "late");
  EXPECT_EQ(answer.header("retry-after"), "7");
  EXPECT_EQ(answer.header("absent"), "");
  EXPECT_FALSE(answer.ok());
  EXPECT_TRUE(is_worth_a_retry(answer));
  const std::lock_guard lock(mutex);
  EXPECT_THAT(seen, testing::StartsWith("POST /v1?a=b HTTP/1.1\r\n"));
  EXPECT_THAT(seen, testing::HasSubstr("\r\nX-Kind: one\r\n"));
  EXPECT_THAT(seen, testing::HasSubstr("\r\nX-Empty:\r\n"));
  EXPECT_THAT(seen, testing::EndsWith("\r\n\r\n12345"));
}

TEST(HttpClient, BodyOfZerosIsSentWhole) {
  std::atomic<size_t> zeros = 0;
  LoopbackServer server([&](int connection) {
    const std::string request = read_request(connection);
    zeros = static_cast<size_t>(std::count(request.begin(), request.end(), '\0'));
    say(connection, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  });
  HttpClient client({});
  EXPECT_TRUE(client.send({.method = "POST", .url = server.url(), .body = std::string(3, '\0')}).ok());
  EXPECT_EQ(zeros.load(), 3U);
}

/// What goes wrong on the way: no answer, within the time, and a reason.
struct Trouble {
  const char* what;
  std::function<void(int)> serve;
  const char* failure;
};

TEST(HttpClient, TroubleIsAFailureWithinTheTimeout) {
  const std::vector<Trouble> troubles = {
      {"hang",
       [](int c) {
         pollfd end{c, POLLRDHUP, 0};
         (void)read_request(c);
         (void)::poll(&end, 1, 5000);
       },
       "timed out"},
      {"drip",
       [](int c) {
         (void)read_request(c);
         say(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
         for (int i = 0; i < 30; ++i) {
           say(c, "x");
           std::this_thread::sleep_for(std::chrono::milliseconds(50));
         }
       },
       "timed out"},
      {"reset",
       [](int c) {
         (void)read_request(c);
         const linger now{1, 0};
         ::setsockopt(c, SOL_SOCKET, SO_LINGER, &now, sizeof now);
       },
       "eset"},
      {"garbage",
       [](int c) {
         (void)read_request(c);
         say(c, "\x01\x02 no HTTP\r\n\r\n");
       },
       "HTTP/0.9"},
      {"short body",
       [](int c) {
         (void)read_request(c);
         say(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
       },
       "remaining"},
      {"long body",
       [](int c) {
         (void)read_request(c);
         say(c, "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + std::string(5000, 'x'));
       },
       "longer than 1000"},
  };
  for (const Trouble& trouble : troubles) {
    SCOPED_TRACE(trouble.what);
    LoopbackServer server(trouble.serve);
    HttpClient client({.timeout_ns = kSecond / 2, .max_answer_bytes = 1000});
    const auto start = std::chrono::steady_clock::now();
    const HttpAnswer answer = client.send({.url = server.url()});
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
    EXPECT_THAT(answer.failure, testing::HasSubstr(trouble.failure));
    EXPECT_FALSE(answer.ok());
    EXPECT_TRUE(is_worth_a_retry(answer));
  }
}

TEST(HttpClient, RefusedConnectionAndForeignSchemeAreFailures) {
  HttpClient client({});
  EXPECT_THAT(client.send({.url = "http://127.0.0.1:1/"}).failure, testing::HasSubstr("connect"));
  EXPECT_THAT(client.send({.url = "file:///etc/passwd"}).failure, testing::HasSubstr("rotocol"));
}

TEST(HttpClient, RedirectIsAnAnswer) {
  LoopbackServer server([](int connection) {
    (void)read_request(connection);
    say(connection, "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
  });
  HttpClient client({});
  const HttpAnswer answer = client.send({.url = server.url()});
  EXPECT_EQ(answer.status, 302);
  EXPECT_EQ(answer.header("location"), "http://127.0.0.1:1/");
  EXPECT_FALSE(is_worth_a_retry(answer));
}

TEST(HttpClient, CancelledRequestEndsEarly) {
  LoopbackServer server([](int c) {
    pollfd end{c, POLLRDHUP, 0};
    (void)read_request(c);
    (void)::poll(&end, 1, 20'000);
  });
  std::atomic<bool> is_cancelled = false;
  HttpClient client({.timeout_ns = 20 * kSecond, .is_cancelled = &is_cancelled});
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    is_cancelled = true;
  });
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(client.send({.url = server.url()}).failure, "it was given up");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  canceller.join();
}

TEST(HttpClient, RetryAfterIsSecondsOrADate) {
  constexpr int64_t kNow = 784'111'777 * kSecond;  // 1994-11-06T08:49:37Z
  const std::pair<const char*, int64_t> cases[] = {{"7", 7 * kSecond},
                                                   {"0", 0},
                                                   {"-3", 0},
                                                   {"Sun, 06 Nov 1994 08:50:37 GMT", 60 * kSecond},
                                                   {"Sun, 06 Nov 1994 08:49:00 GMT", 0},
                                                   {"soon", 0},
                                                   {"7 days or so", 0},
                                                   {"", 0}};
  for (const auto& [text, wanted] : cases) {
    HttpAnswer answer;
    answer.headers = {{"retry-after", text}};
    EXPECT_EQ(retry_after_ns(answer, kNow), wanted) << text;
  }
  EXPECT_EQ(retry_after_ns({}, kNow), 0);
}

TEST(HttpClient, MessagesShowNoCredentials) {
  EXPECT_EQ(without_credentials("https://me:secret@host:1/a@b?c=@"), "https://host:1/a@b?…");
  EXPECT_EQ(without_credentials("otlp http://host/v1?token=secret#more"), "otlp http://host/v1?…");
  EXPECT_EQ(without_credentials("http://host/a@b"), "http://host/a@b");
  EXPECT_EQ(without_credentials("http://me@host"), "http://host");
}

}  // namespace
}  // namespace goodput
