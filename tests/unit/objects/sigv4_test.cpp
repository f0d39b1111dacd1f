// The examples of "Signature Calculations for the Authorization Header" and "Authenticating Requests: Using
// Query Parameters" in Amazon's API reference of S3.
#include "server/objects/sigv4.h"

#include "shared/crypto/keys.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::objects;
using Catch::Matchers::EndsWith;

namespace {

const Credentials keys{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1"};
const std::string host = "examplebucket.s3.amazonaws.com";
const Timestamp noon{std::chrono::sys_days{std::chrono::year{2013} / 5 / 24}};

std::string authorization(const Unsigned& request, std::string_view body = "") {
  return sign(request, crypto::sha256_hex(body), keys, noon).back().second;
}

}  // namespace

TEST_CASE("signed headers are as published: a range of an object") {
  CHECK(authorization({"GET", host, "/test.txt", {}, {{"range", "bytes=0-9"}}}) ==
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
        "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
        "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST_CASE("signed headers are as published: a new object, whose name has a character to replace") {
  const Unsigned request{
      "PUT",
      host,
      path_text("/test$file.text"),
      {},
      {{"date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}}};
  CHECK_THAT(authorization(request, "Welcome to Amazon S3."),
             EndsWith("Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"));
}

TEST_CASE("signed headers are as published: queries without a value, and in another order") {
  CHECK_THAT(authorization({"GET", host, "/", {{"lifecycle", ""}}, {}}),
             EndsWith("Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));
  CHECK_THAT(authorization({"GET", host, "/", {{"prefix", "J"}, {"max-keys", "2"}}, {}}),
             EndsWith("Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

TEST_CASE("an address for somebody else is as published") {
  CHECK(presign({"GET", host, "/test.txt", {}, {}}, keys, noon, std::chrono::hours{24}) ==
        "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-"
        "east-1"
        "%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
        "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
}
