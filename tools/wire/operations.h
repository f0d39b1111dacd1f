// The operations of the wire: what server/http and server/front answer. tests/functional/wire_test.py asks a
// server for each of them.
#pragma once

#include <string>
#include <vector>

#include "tools/wire/catalog.h"

namespace gleaner::wire {

enum class Who { anyone, host, relay, host_or_admin, admin, admin_or_session, session };

// What a request or a reply brings.
struct Body {
  std::string schema = {};              // of JSON; empty: it is none
  std::string payload = {};             // of a signed statement: the schema of its payload
  std::vector<std::string> media = {};  // where it is not JSON
  bool required = true;                 // of a request
};

struct Operation {
  std::string method;
  std::string path;  // with {parameters}
  Who who = Who::anyone;
  Body request;
  Body reply;
  std::string summary;
  std::vector<std::string> parameters = {};  // of the query or the head, as OpenAPI has them
};

// All of them, those of one path one after another. Adds their messages to the catalog, and those that only
// signed statements carry.
[[nodiscard]] std::vector<Operation> operations(Catalog& catalog);

}  // namespace gleaner::wire
