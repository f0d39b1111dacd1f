#include <algorithm>

#include "tests/catch.h"
#include "tools/wire/published.h"

namespace gleaner::wire {
namespace {

const Field& field(const Schema& schema, std::string_view name) {
  const auto found = std::find_if(schema.fields.begin(), schema.fields.end(),
                                  [&](const Field& each) { return each.name == name; });
  REQUIRE(found != schema.fields.end());
  return *found;
}

}  // namespace

TEST_CASE("a field is required unless it is optional, has a default or depends on others", "[wire]") {
  Catalog catalog;
  CHECK(catalog.add<protocol::Grant>() == "Grant");
  const Schema& grant = catalog.find("Grant");
  CHECK(field(grant, "unit").required);
  CHECK_FALSE(field(grant, "begun").required);
  CHECK_FALSE(field(grant, "parameters").required);  // absent where there is a context
  CHECK_FALSE(field(grant, "parameters").written);

  catalog.add<protocol::HostInfo>();
  const Schema& host = catalog.find("HostInfo");
  CHECK_FALSE(field(host, "trust").required);
  CHECK(field(host, "trust").written);
  CHECK(field(host, "trust").type.low == "-1");
  CHECK(field(host, "trust").type.high == "1");
  CHECK_FALSE(field(host, "relay").written);
  CHECK(field(host, "state").type.schema == "HostState");
  CHECK(catalog.find("HostState").names == std::vector<std::string>{"active", "revoked", "left"});
  CHECK(catalog.find("HostSpeeds").fields.size() == 4);  // it came with the host
}

TEST_CASE("a list is a schema of its own, once", "[wire]") {
  Catalog catalog;
  CHECK(catalog.add<std::vector<protocol::Ban>>() == "BanList");
  const std::size_t schemas = catalog.schemas().size();
  catalog.add<std::vector<protocol::Ban>>();
  CHECK(catalog.schemas().size() == schemas);
  CHECK(catalog.find("BanList").element == "Ban");
}

TEST_CASE("an operation appears in all published texts", "[wire]") {
  Catalog catalog;
  const std::string schema = catalog.add<protocol::TagHost>();
  const Operation operation{"POST",         "/v1/admin/hosts/{id}/tags", Who::admin, {schema}, {schema},
                            "Says \"tags\""};
  const std::string document = openapi(catalog, {operation});
  for (const char* line :
       {"  /v1/admin/hosts/{id}/tags:\n    parameters:\n"
        "      - { name: id, in: path, required: true, schema: { type: integer, minimum: 1 } }\n    post:\n",
        "      summary: \"Says \\\"tags\\\"\"\n      security: [{ admin: [] }]\n",
        "    TagHost:\n      description: \"tags of a host\"\n      type: object\n      required: [tags]\n"})
    CHECK(document.find(line) != std::string::npos);
  CHECK(operation_table(catalog, {operation})
            .ends_with("| `POST /v1/admin/hosts/{id}/tags` | admin | TagHost | TagHost | Says \"tags\" |\n"));
  CHECK(console_types(catalog, {operation}).ends_with("export interface TagHost {\n  tags: string[];\n}\n"));
  CHECK(console_types(catalog, {{"GET", "/v1/project", Who::anyone, {}, {schema}, ""}}).find("TagHost") ==
        std::string::npos);
  const std::string python = python_types(catalog, {operation});
  CHECK(python.find("class TagHost(TypedDict):\n    \"\"\"tags of a host\"\"\"\n    tags: List[str]\n") !=
        std::string::npos);
  CHECK(python.ends_with("    \"POST /v1/admin/hosts/{id}/tags\": (\"TagHost\", \"TagHost\"),\n}\n"));
}

TEST_CASE("Python's types tell fields that are always there from others", "[wire]") {
  Catalog catalog;
  const std::string schema = catalog.add<protocol::HostInfo>();
  const std::string python =
      python_types(catalog, {{"GET", "/v1/admin/hosts/{id}", Who::admin, {}, {schema}, ""}});
  CHECK(python.find("HostState = Literal[\"active\", \"revoked\", \"left\"]\n") != std::string::npos);
  const auto always = python.find("class HostInfoAlways(TypedDict):");
  const auto sometimes = python.find("class HostInfo(HostInfoAlways, total=False):");
  REQUIRE(always != std::string::npos);
  REQUIRE(sometimes > always);
  CHECK(python.find("    trust: float\n") < sometimes);
  CHECK(python.find("    relay: int\n", sometimes) != std::string::npos);
}

}  // namespace gleaner::wire
