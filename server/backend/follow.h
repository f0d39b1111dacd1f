// Answers that go on (http/feed.h), over the link: the head is the first piece, what is published the others.
#pragma once

#include <memory>

#include "server/http/server.h"
#include "server/link/listener.h"
#include "server/service/core/kernel.h"

namespace gleaner::backend {

// Until nobody wants more. The kernel must outlive the feed's publisher.
void follow(service::Kernel& kernel, const std::shared_ptr<link::Exchange>& exchange,
            const http::Response& response);

}  // namespace gleaner::backend
