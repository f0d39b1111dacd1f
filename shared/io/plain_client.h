// The client of http_client.h for a service that the operator named, of a network that may be the machine's
// own: it takes http:// addresses, too. Of https:// ones the system's certificate authorities decide.
#pragma once

#include <memory>
#include <string>

#include "shared/io/http_client.h"

namespace gleaner::io {

[[nodiscard]] std::unique_ptr<HttpClient> make_plain_client(std::string user_agent);

}  // namespace gleaner::io
