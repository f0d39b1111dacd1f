#include <fmt/format.h>

#include <regex>

#include "tools/wire/published.h"

namespace gleaner::wire {
namespace {

constexpr const char* head =
    R"(# Written by gleaner-wire from shared/protocol/fields_*.h and tools/wire/operations.cpp.
openapi: 3.1.0
info:
  title: Gleaner
  version: "1"
  license: { name: Apache-2.0, identifier: Apache-2.0 }
  description: |
    The wire of Gleaner, protocol version 1: what hosts and administrators exchange with a server. HTTPS only. Every JSON
    message carries "version": 1; receivers ignore unknown fields; sizes and counts are bounded (shared/base/limits.h).
    Lengths of texts are in bytes of UTF-8. Errors are RFC 9457 problem documents that say what to do; 503 carries
    Retry-After. Every operation may be repeated. Payloads of signed statements are the JSON of the message that the
    statement's type names; the signature (Ed25519) covers "gleaner-1\n", the type, "\n" and the payload.
servers:
  - url: https://{host}:{port}
    variables: { host: { default: localhost }, port: { default: "8443" } }
paths:
)";

constexpr const char* components = R"(components:
  securitySchemes:
    host: { type: http, scheme: bearer, description: The token of the enrolment reply }
    admin: { type: http, scheme: bearer, description: The token in admin/token of the project, or one that an owner made }
    session:
      type: apiKey
      in: cookie
      name: __Host-gleaner-console
      description: |
        A session of the console, accepted wherever an admin token is, from pages of this server alone. A request other than
        GET also carries the guard, as X-Gleaner-Guard.
  responses:
    Error:
      description: What is wrong and what to do
      headers: { Retry-After: { description: "Seconds; with 429 and 503", schema: { type: integer } } }
      content: { application/problem+json: { schema: { $ref: "#/components/schemas/ProblemDocument" } } }
  schemas:
    Digest: { type: string, pattern: "^[0-9a-f]{64}$", description: "SHA-256" }
    Time: { type: integer, description: "Microseconds since 1970, UTC; 0: never" }
    Nothing: { type: object, properties: { version: { const: 1 } } }
)";

std::string quoted(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return '"' + escaped + '"';
}

std::string reference(const std::string& schema) {
  return "$ref: \"#/components/schemas/" + schema + '"';
}

std::string yaml(const Type& type) {
  switch (type.form) {
    case Form::whole:
    case Form::number: {
      std::string text = type.form == Form::whole ? "type: integer" : "type: number";
      if (!type.low.empty()) text += ", minimum: " + type.low;
      if (!type.high.empty()) text += ", maximum: " + type.high;
      return text;
    }
    case Form::boolean:
      return "type: boolean";
    case Form::text:
      return "type: string" + (type.length == 0 ? "" : fmt::format(", maxLength: {}", type.length));
    case Form::bytes:
      return "type: string, contentEncoding: base64url";
    case Form::list:
      return fmt::format("type: array, maxItems: {}, items: {{ {} }}", type.length, yaml(*type.each));
    case Form::schema:
      break;
  }
  return reference(type.schema);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string yaml(const Schema& schema) {
  if (!schema.names.empty())
    return fmt::format("    {}: {{ type: string, enum: [{}] }}\n", schema.name, joined(schema.names));
  std::string text = fmt::format("    {}:\n", schema.name);
  if (!schema.about.empty()) text += fmt::format("      description: {}\n", quoted(schema.about));
  text += "      type: object\n";
  std::vector<std::string> required;
  if (!schema.element.empty()) required.push_back("version");
  for (const auto& field : schema.fields)
    if (field.required) required.push_back(field.name);
  if (!required.empty()) text += fmt::format("      required: [{}]\n", joined(required));
  text += "      properties:\n";
  if (!schema.element.empty()) text += "        version: { const: 1 }\n";
  for (const auto& field : schema.fields)
    text += fmt::format("        {}: {{ {}{} }}\n", field.name, yaml(field.type),
                        field.meaning.empty() ? "" : ", description: " + quoted(field.meaning));
  return text;
}

std::string content(const Body& body) {
  if (body.media.empty())
    return fmt::format("{{ application/json: {{ schema: {{ {} }} }} }}", reference(body.schema));
  std::string kinds;
  for (const auto& media : body.media) kinds += (kinds.empty() ? "" : ", ") + media + ": {}";
  return "{ " + kinds + " }";
}

const char* security(Who who) {
  switch (who) {
    case Who::anyone:
      return "";
    case Who::host:
    case Who::relay:
      return "{ host: [] }";
    case Who::host_or_admin:
      return "{ host: [] }, { admin: [] }";
    case Who::admin:
      return "{ admin: [] }";
    case Who::admin_or_session:
      return "{ admin: [] }, { session: [] }";
    case Who::session:
      return "{ session: [] }";
  }
  return "";
}

// Of a path's parameter, by its name.
std::string parameter_type(const std::string& name) {
  if (name == "digest") return reference("Digest");
  if (name == "kind") return reference("BanKind");
  if (name == "stage") return fmt::format("type: integer, minimum: 0, maximum: {}", limits::stages_max);
  if (name == "id" || name == "problem") return "type: integer, minimum: 1";
  return "type: string";
}

std::string path_parameters(const std::string& path) {
  static const std::regex pattern("\\{([a-z]+)\\}");
  std::string text;
  for (std::sregex_iterator i(path.begin(), path.end(), pattern), end; i != end; ++i)
    text += fmt::format("      - {{ name: {0}, in: path, required: true, schema: {{ {1} }} }}\n",
                        (*i)[1].str(), parameter_type((*i)[1].str()));
  return text.empty() ? "" : "    parameters:\n" + text;
}

std::string yaml(const Operation& operation) {
  std::string method = operation.method;
  std::transform(method.begin(), method.end(), method.begin(), [](char c) { return c | 0x20; });
  std::string text = fmt::format("    {}:\n      summary: {}\n", method, quoted(operation.summary));
  if (const std::string who = security(operation.who); !who.empty())
    text += fmt::format("      security: [{}]\n", who);
  if (!operation.parameters.empty()) text += "      parameters:\n";
  for (const auto& parameter : operation.parameters) text += fmt::format("        - {{ {} }}\n", parameter);
  if (!operation.request.schema.empty() || !operation.request.media.empty())
    text += fmt::format("      requestBody: {{ required: {}, content: {} }}\n", operation.request.required,
                        content(operation.request));
  text += fmt::format("      responses:\n        \"200\": {{ description: done, content: {} }}\n",
                      content(operation.reply));
  if (operation.path == "/v1/blobs/{digest}")
    text +=
        fmt::format("        \"206\": {{ description: a part, content: {} }}\n", content(operation.reply));
  return text + "        default: { $ref: \"#/components/responses/Error\" }\n";
}

}  // namespace

std::string openapi(const Catalog& catalog, const std::vector<Operation>& operations) {
  std::string text = head;
  std::string path;
  for (const auto& operation : operations) {
    if (operation.path != path) {
      path = operation.path;
      text += fmt::format("  {}:\n{}", path, path_parameters(path));
    }
    text += yaml(operation);
  }
  text += components;
  for (const auto& schema : catalog.schemas()) text += yaml(schema);
  return text;
}

}  // namespace gleaner::wire
