// SPDX-License-Identifier: Apache-2.0
#include "gcp/bucket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/checksum.h"
#include "gcp/bucket_address.h"
#include "gcp/fake_google.h"

namespace goodput::gcp {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

constexpr const char* kUpload = "POST /upload/storage/v1/b/bucket/o";
constexpr const char* kObject = "/storage/v1/b/bucket/o/a%2Fb%20c";

uint32_t sum_of(std::string_view bytes) { return crc32c(std::as_bytes(std::span(bytes))); }

std::string object(const std::string& name, int64_t generation, std::string_view bytes) {
  return R"({"name":")" + name + R"(","generation":")" + std::to_string(generation) + R"(","size":")" +
         std::to_string(bytes.size()) + R"(","crc32c":")" + checksum_text(sum_of(bytes)) + R"("})";
}

class BucketRequests : public testing::Test {
 protected:
  std::unique_ptr<Bucket> open() {
    return std::move(Bucket::open("bucket", {.environment = variables({{"STORAGE_EMULATOR_HOST", google_.host()}}),
                                             .timeout_ns = 5'000'000'000,
                                             .first_retry_ns = 1'000'000}))
        .value();
  }
  FakeGoogle google_;
};

TEST(BucketAddress, NamesBucketAndFolder) {
  EXPECT_EQ(to_url(parse_bucket_address("gs://my-bucket").value()), "gs://my-bucket");
  EXPECT_EQ(to_url(parse_bucket_address("gs://my-bucket/runs/7b//").value()), "gs://my-bucket/runs/7b");
  EXPECT_EQ(object_name(parse_bucket_address("gs://my-bucket/runs").value(), "v1/a"), "runs/v1/a");
  EXPECT_EQ(object_name(parse_bucket_address("gs://my-bucket/").value(), "v1/a"), "v1/a");
  for (const char* url : {"gs://", "gs:///a", "s3://bucket/a", "gs://Bucket/a", "gs://ab", "gs://bucket/a\nb", ""}) {
    EXPECT_EQ(parse_bucket_address(url).status().code(), StatusCode::kInvalidArgument) << url;
  }
}

// The check value of CRC-32C is 0xe3069283.
TEST(Checksums, AreWrittenAsTheServiceDoes) { EXPECT_EQ(checksum_text(sum_of("123456789")), "4waSgw=="); }

TEST_F(BucketRequests, UploadCarriesNameConditionAndChecksum) {
  google_.on(kUpload, 200, object("a/b c", 7, "hello"));
  const auto done = open()->upload("a/b c", "hello", kMustNotExist);
  ASSERT_TRUE(done.ok()) << done.status().message();
  EXPECT_EQ(done->generation, 7);
  EXPECT_TRUE(is_content(*done, "hello"));
  EXPECT_THAT(google_.last(kUpload), AllOf(HasSubstr("name=a%2Fb%20c&ifGenerationMatch=0"),
                                           HasSubstr(R"("crc32c":"mnG7TA==")"), HasSubstr("\r\n\r\nhello\r\n--")));
}

TEST_F(BucketRequests, TroubleThatPassesIsTriedAgain) {
  google_.on(kUpload, 429, "");
  google_.on(kUpload, 503, "");
  google_.on(kUpload, 200, object("a", 7, "hello"));
  EXPECT_TRUE(open()->upload("a", "hello", kMustNotExist).ok());
  EXPECT_EQ(google_.count(kUpload), 3U);
}

TEST_F(BucketRequests, TroubleThatDoesNotPassIsUnavailable) {
  google_.on(kUpload, 500, "");
  EXPECT_EQ(open()->upload("a", "hello", kMustNotExist).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(google_.count(kUpload), 4U);
}

TEST_F(BucketRequests, AWriteWhoseAnswerWasLostIsDone) {
  google_.on(kUpload, 503, "");
  google_.on(kUpload, 412, "");
  google_.on(std::string("GET ") + kObject, 200, object("a/b c", 8, "hello"));
  const auto done = open()->upload("a/b c", "hello", 3);
  ASSERT_TRUE(done.ok()) << done.status().message();
  EXPECT_EQ(done->generation, 8);
}

TEST_F(BucketRequests, AnotherWritersObjectIsLeftAlone) {
  google_.on(kUpload, 412, "");
  google_.on(std::string("GET ") + kObject, 200, object("a/b c", 8, "jello"));
  const Status status = open()->upload("a/b c", "hello", kMustNotExist).status();
  EXPECT_EQ(status.code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(status.message(), "writing gs://bucket/a/b c: somebody else has changed it");
}

TEST_F(BucketRequests, WhatArrivedDamagedIsTakenBack) {
  google_.on(kUpload, 200, object("a/b c", 9, "jello"));
  google_.on(std::string("DELETE ") + kObject, 204, "");
  EXPECT_EQ(open()->upload("a/b c", "hello", kMustNotExist).status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(google_.last(std::string("DELETE ") + kObject), HasSubstr("?ifGenerationMatch=9"));
}

TEST_F(BucketRequests, ComposingNamesEveryGeneration) {
  const std::string path = std::string("POST ") + kObject + "/compose";
  google_.on(path, 200, object("a/b c", 9, "hello world"));
  const ObjectFacts first{.name = "a/b c", .generation = 4, .size_bytes = 5};
  const ObjectFacts second{.name = "part", .generation = 5, .size_bytes = 6};
  ASSERT_TRUE(open()->compose("a/b c", std::vector{first, second}, sum_of("hello world"), 4).ok());
  EXPECT_THAT(google_.last(path), HasSubstr("?ifGenerationMatch=4"));
  EXPECT_THAT(google_.last_body(path), AllOf(HasSubstr(R"("ifGenerationMatch":"4")"), HasSubstr(R"("name":"part")")));
}

TEST_F(BucketRequests, DamagedDownloadIsNotGiven) {
  const std::string path = "GET /download/storage/v1/b/bucket/o/a";
  google_.on(path, 200, "hello");
  google_.on(path, 200, "jello");
  google_.on(path, 200, "hell");
  const ObjectFacts facts{.name = "a", .generation = 4, .size_bytes = 5, .crc32c = checksum_text(sum_of("hello"))};
  EXPECT_EQ(open()->download(facts).value(), "hello");
  EXPECT_THAT(google_.last(path), HasSubstr("?alt=media&generation=4"));
  EXPECT_EQ(open()->download(facts).status().code(), StatusCode::kUnreadable);
  EXPECT_EQ(open()->download(facts).status().code(), StatusCode::kUnavailable);
}

TEST_F(BucketRequests, ListingGoesOverAllPages) {
  const std::string path = "GET /storage/v1/b/bucket/o";
  google_.on(path, 200, R"({"items":[)" + object("a/1", 1, "x") + R"(],"nextPageToken":"t+1"})");
  google_.on(path, 200, R"({"items":[)" + object("a/2", 2, "y") + "]}");
  std::vector<ObjectFacts> found;
  ASSERT_TRUE(open()->list("a/", [&](ObjectFacts facts) { found.push_back(std::move(facts)); }).ok());
  EXPECT_THAT(found, ElementsAre(Field(&ObjectFacts::name, "a/1"), Field(&ObjectFacts::generation, 2)));
  EXPECT_THAT(google_.last(path), AllOf(HasSubstr("?prefix=a%2F&"), HasSubstr("&pageToken=t%2B1")));
}

TEST_F(BucketRequests, WhatIsGoneAlreadyIsRemoved) {
  const std::string path = "DELETE /storage/v1/b/bucket/o/a";
  google_.on(path, 404, "");
  google_.on(path, 412, "");
  google_.on(path, 403, R"({"error":{"code":403,"message":"storage.objects.delete is missing"}})");
  EXPECT_TRUE(open()->remove({.name = "a", .generation = 4}).ok());
  EXPECT_TRUE(open()->remove({.name = "a", .generation = 4}).ok());
  const Status refused = open()->remove({.name = "a", .generation = 4});
  EXPECT_EQ(refused.code(), StatusCode::kPermissionDenied);
  EXPECT_THAT(refused.message(), HasSubstr("storage.objects.delete is missing"));
}

TEST_F(BucketRequests, GarbageIsNoAnswer) {
  google_.on("GET /storage/v1/b/bucket/o", 200, "not JSON");
  google_.on("GET /storage/v1/b/bucket/o/a", 200, "[]");
  google_.on(kUpload, 200, R"({"name":5})");
  const auto bucket = open();
  EXPECT_EQ(bucket->list("", [](const ObjectFacts&) { FAIL(); }).code(), StatusCode::kUnavailable);
  EXPECT_EQ(bucket->find("a").status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(bucket->upload("a", "x", kMustNotExist).status().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace goodput::gcp
