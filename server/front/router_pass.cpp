// Router: what passes to the leader as it is, and what this front end tells of itself.
#include <chrono>
#include <utility>

#include "server/front/router.h"
#include "server/http/responses.h"
#include "server/metrics/exposition.h"

namespace gleaner::front {
namespace {

using link::Kind;

// An answer that goes on: what the leader publishes is published here, to the one who asked.
struct Following {
  std::shared_ptr<http::Feed> feed;
  SteadyTime begun{};
  std::atomic<std::uint64_t> id = 0;
};

// After this somebody who follows has begun to.
constexpr Duration begins_within = std::chrono::seconds{5};

// Results that are left to the leader are what a host would deliver again; others may not be done twice.
link::Repeat repeat_of(const http::Request& request) {
  const bool safe = request.method == "GET" || request.method == "HEAD" || request.path == "/v1/work";
  return safe ? link::Repeat::yes : link::Repeat::no;
}

}  // namespace

void Router::pass(const AskedPtr& asked) {
  const auto following = std::make_shared<Following>();
  const auto take_piece = [this, asked, following](std::string_view body) {
    const SteadyTime now = around_.clock.steady();
    if (!following->feed) {
      auto head = link::unpack<http::Response>(body);
      if (!head.ok()) return asked->reply(http::error_response(head.error()));
      following->feed = head->feed = std::make_shared<http::Feed>(1);
      following->begun = now;
      return asked->reply(std::move(*head));
    }
    following->feed->publish(std::make_shared<const std::string>(body));
    if (following->feed->followers() == 0 && now > following->begun + begins_within)
      around_.leader.stop(following->id);
  };
  following->id = around_.leader.ask(
      Kind::pass, link::pack(asked->request),
      [this, asked, take_piece, following](Kind kind, std::string_view body) {
        if (kind == Kind::piece) return take_piece(body);
        if (following->feed) return;  // who follows asks again
        if (kind == Kind::error) return asked->reply(http::error_response(link::unpack_error(body)));
        auto response = link::unpack<http::Response>(body);
        if (!response.ok()) return asked->reply(http::error_response(response.error()));
        // Only who was let in is answered so; an administrator's next request may be
        // large, and counts as its.
        const auto& path = asked->request.path;
        if (response->status < 400 && path.starts_with("/v1/admin/"))
          visitors_.remember(asked->digest, {service::Load::Caller::administrator});
        else if (response->status < 400 && path.starts_with("/v1/uploads/") && !visitors_.find(asked->digest))
          visitors_.remember(asked->digest, {service::Load::Caller::stranger});
        asked->reply(std::move(*response));
      },
      repeat_of(asked->request));
}

// To whom the leader would tell its own.
void Router::metrics(const AskedPtr& asked) {
  around_.leader.ask(Kind::pass, link::pack(asked->request), [this, asked](Kind kind, std::string_view body) {
    if (kind == Kind::error) return asked->reply(http::error_response(link::unpack_error(body)));
    auto response = link::unpack<http::Response>(body);
    if (!response.ok()) return asked->reply(http::error_response(response.error()));
    if (response->status != 200) return asked->reply(std::move(*response));
    using Type = metrics::Exposition::Type;
    metrics::Exposition text;
    const auto link = around_.leader.figures();
    text.counter("gleaner_front_operations_total", "Operations that the leader was asked.",
                 static_cast<double>(link.asked));
    text.counter("gleaner_front_operations_unavailable_total", "Of them those that no leader answered.",
                 static_cast<double>(link.unavailable));
    text.counter("gleaner_front_operations_held_total", "Of them those that waited for the next leader.",
                 static_cast<double>(link.held));
    text.counter("gleaner_front_links_total", "Links to a leader that were made.",
                 static_cast<double>(link.connections));
    text.counter("gleaner_front_commits_checked_total", "Results that were checked here.",
                 static_cast<double>(checked_));
    text.counter("gleaner_front_requests_unchecked_total",
                 "Requests with results that were left to the leader to check.",
                 static_cast<double>(unchecked_));
    text.counter("gleaner_front_requests_refused_total", "Requests that found no place.",
                 static_cast<double>(load_.refused()));
    text.gauge("gleaner_front_requests_under_way", "Requests under way.", load_.under_way());
    text.gauge("gleaner_front_connections_open", "Open connections.",
               static_cast<double>(connections_->open.load()));
    text.family("gleaner_front_answers_total", Type::counter, "Answers by operation and class of status.");
    for (std::size_t i = 0; i < http::request_kinds.size(); ++i)
      for (int status = 2; status <= 5; ++status)
        text.sample(static_cast<double>(requests_->answers(static_cast<http::RequestKind>(i), status)),
                    {{"operation", http::request_kinds.at(i)}, {"status", std::to_string(status) + "xx"}});
    http::Response answer;
    answer.headers["Content-Type"] = metrics::media_type;
    answer.headers["Cache-Control"] = "no-store";
    answer.body = std::move(text).take();
    asked->reply(std::move(answer));
  });
}

}  // namespace gleaner::front
