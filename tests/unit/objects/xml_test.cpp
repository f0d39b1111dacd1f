#include "server/objects/xml.h"

#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::objects;

TEST_CASE("elements and their texts are read, in their order") {
  const auto read = parse_xml(
      R"(<?xml version="1.0" encoding="UTF-8"?><List xmlns="http://s3.amazonaws.com/doc/2006-03-01/">)"
      "<Name>a &amp; "
      "b</Name><Contents><Key>1</Key><Size>7</Size></Contents><Contents><Key>2</Key></Contents></List>");
  REQUIRE(read.ok());
  CHECK(read->name == "List");
  CHECK(read->at("Name") == "a & b");
  CHECK(read->at("Prefix").empty());
  REQUIRE(read->children.size() == 3);
  CHECK(read->children[1].at("Size") == "7");
  CHECK(read->children[2].at("Key") == "2");
}

TEST_CASE("what is no such document, or too much of one, is refused") {
  CHECK(!parse_xml("").ok());
  CHECK(!parse_xml("<a><b></a>").ok());
  CHECK(!parse_xml("{\"a\": 1}").ok());
  CHECK(!parse_xml("<a/><b/>").ok());
  CHECK(!parse_xml(R"(<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>)").ok());
  CHECK(!parse_xml(R"(<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>)").ok());
  std::string deep, many = "<a>";
  for (int i = 0; i < 20; ++i) deep += "<a>";
  for (int i = 0; i < 20; ++i) deep += "</a>";
  CHECK(!parse_xml(deep).ok());
  for (int i = 0; i < 60'000; ++i) many += "<b/>";
  CHECK(!parse_xml(many + "</a>").ok());
  CHECK(!parse_xml("<a>" + std::string(5 << 20, 'x') + "</a>").ok());
}
