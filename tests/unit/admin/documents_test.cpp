#include "tools/admin/documents.h"

#include "shared/base/limits.h"
#include "tests/catch.h"

namespace gleaner::admin {

TEST_CASE("parameters take JSON values as such and anything else as text", "[documents]") {
  const auto composed = compose_parameters(
      "", {"width=840", "scene=D", "fast=true", "name=\"3\"", "centre=[0,-1.5]", "empty=", "expression=a=b"});
  REQUIRE(composed.ok());
  CHECK(
      *composed ==
      R"({"centre":[0,-1.5],"empty":"","expression":"a=b","fast":true,"name":"3","scene":"D","width":840})");
}

TEST_CASE("a number with more digits than a double has is kept as text", "[documents]") {
  const auto composed = compose_parameters(
      "", {"a=-0.12345678901234567890", "b=1e-400", "c=0.1234567890123456", "d=0.000000000000000000000",
           "e=1e-300", "f=18446744073709551615", "g=184467440737095516150"});
  REQUIRE(composed.ok());
  CHECK(*composed ==
        R"({"a":"-0.12345678901234567890","b":"1e-400","c":0.1234567890123456,"d":0.0,"e":1e-300,)"
        R"("f":18446744073709551615,"g":"184467440737095516150"})");
}

TEST_CASE("settings go over the file's parameters", "[documents]") {
  const auto composed = compose_parameters(R"({"width": 1, "height": 2})", {"width=3"});
  REQUIRE(composed.ok());
  CHECK(*composed == R"({"height":2,"width":3})");
}

TEST_CASE("parameters that cannot be are refused", "[documents]") {
  CHECK(compose_parameters("[1]", {}).error().kind == ErrorKind::invalid);
  CHECK(compose_parameters("{", {}).error().kind == ErrorKind::invalid);
  const auto unnamed = compose_parameters("", {"=3"});
  REQUIRE_FALSE(unnamed.ok());
  CHECK(unnamed.error().message.find("KEY=VALUE") != std::string::npos);
  CHECK_FALSE(compose_parameters("", {"width"}).ok());
  CHECK_FALSE(compose_parameters("", {"big=" + std::string(limits::parameters_bytes_max, 'x')}).ok());
  // Nested beyond all bounds: just a text, never a crash.
  const auto deep = compose_parameters("", {"deep=" + std::string(5000, '[')});
  REQUIRE(deep.ok());
  CHECK(deep->find("\"[[[") != std::string::npos);
}

TEST_CASE("profiles are read strictly", "[documents]") {
  const std::string fingerprint(64, 'a');
  const auto good = parse_profile(R"({"url":"https://h:1","root_fingerprint":")" + fingerprint +
                                  R"(","token_file":"token","later":1})");
  REQUIRE(good.ok());
  CHECK(good->url == "https://h:1");
  CHECK(good->token_file == "token");
  CHECK(parse_profile(R"({"url":1,"root_fingerprint":")" + fingerprint + R"(","token_file":"t"})")
            .error()
            .message == "\"url\" is missing or not a text");
  CHECK_FALSE(parse_profile(R"({"url":"u","root_fingerprint":"aa","token_file":"t"})").ok());
  CHECK(good->tls_key.empty());
  const auto with_key = [&](const std::string& key) {
    return parse_profile(R"({"url":"https://h:1","root_fingerprint":")" + fingerprint +
                         R"(","token_file":"t","tls_key":")" + key + R"("})");
  };
  CHECK(with_key(fingerprint)->tls_key == fingerprint);
  CHECK_FALSE(with_key("aa").ok());
  CHECK_FALSE(good->public_certificate);
  const auto with_certificate = [&](const std::string& said) {
    return parse_profile(R"({"url":"https://h:1","root_fingerprint":")" + fingerprint +
                         R"(","token_file":"t","public_certificate":)" + said + "}");
  };
  CHECK(with_certificate("true")->public_certificate);
  CHECK_FALSE(with_certificate("false")->public_certificate);
  CHECK_FALSE(with_certificate("1").ok());
  CHECK_FALSE(parse_profile("nonsense").ok());
}

TEST_CASE("documents carry the version and keep their order", "[documents]") {
  std::vector<Document> items;
  items.push_back(std::move(Document().text("name", "a\"b").number("bytes", 3)));
  const std::string text =
      Document().text("zone", "z").json("inner", R"({"a":1})").list("items", items).render();
  CHECK(text.find("\"version\": 1") < text.find("\"zone\""));
  CHECK(text.find("\"zone\"") < text.find("\"inner\""));
  CHECK(text.find("a\\\"b") != std::string::npos);
}

}  // namespace gleaner::admin
