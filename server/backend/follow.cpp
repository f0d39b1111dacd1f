#include "server/backend/follow.h"

#include <atomic>

#include "server/http/responses.h"
#include "server/link/messages.h"

namespace gleaner::backend {

void follow(service::Kernel& kernel, const std::shared_ptr<link::Exchange>& exchange,
            const http::Response& response) {
  const auto number = std::make_shared<std::atomic<std::uint64_t>>(0);
  const std::weak_ptr<http::Feed> feed = response.feed;
  exchange->piece(link::pack(response));
  const auto follower =
      response.feed->follow([&kernel, exchange, feed, number](const http::Feed::Piece& piece) {
        if (!exchange->over()) return exchange->piece(*piece);
        if (const std::uint64_t leaving = number->exchange(0); leaving != 0)
          kernel.on_pool([feed, leaving] {  // it must not be called from here
            if (const auto there = feed.lock()) there->leave(leaving);
          });
      });
  if (follower)
    *number = *follower;
  else
    exchange->fail({ErrorKind::unavailable, "too many people watch this server: close other pages"});
}

}  // namespace gleaner::backend
