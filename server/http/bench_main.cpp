// Nanoseconds of processor time of what server_response.cpp and server_target.cpp do themselves, and of
// Beast's serializer and Boost.URL for the same, for tools/bench: "WHAT OURS THEIRS" a line.
#include <algorithm>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/url.hpp>
#include <boost/url/src.hpp>
#include <cstdio>
#include <ctime>
#include <map>
#include <string>

#include "server/http/server_response.h"
#include "server/http/server_target.h"

namespace {

namespace beast = boost::beast;
namespace urls = boost::urls;

volatile std::size_t seen = 0;  // so that nothing is left out

template <typename Work>
double nanoseconds(const Work& work) {
  constexpr int rounds = 20, calls = 50'000;
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const std::clock_t before = std::clock();
    for (int call = 0; call < calls; ++call) seen = seen + work();
    best = std::min(best, static_cast<double>(std::clock() - before) * 1e9 / CLOCKS_PER_SEC / calls);
  }
  return best;
}

std::size_t serialized(const gleaner::http::Response& ours) {
  beast::http::response<beast::http::empty_body> response{beast::http::int_to_status(ours.status), 11};
  response.set(beast::http::field::server, "gleaner");
  response.content_length(300);
  for (const auto& [name, value] : ours.headers) response.insert(name, value);
  beast::http::response_serializer<beast::http::empty_body> serializer{response};
  std::string head;
  beast::error_code fault;
  while (!fault && !serializer.is_done())
    serializer.next(fault, [&](beast::error_code&, const auto& buffers) {
      head += beast::buffers_to_string(buffers);
      serializer.consume(beast::buffer_bytes(buffers));
    });
  return head.size();
}

std::size_t parsed(const std::string& target) {
  const auto view = urls::parse_origin_form(target).value();
  const std::string path = view.path();
  std::map<std::string, std::string> query;
  for (const auto& pair : view.params()) query.emplace(pair.key, pair.value);
  return path.size() + query.size();
}

}  // namespace

int main() {
  using namespace gleaner::http;
  const Response response{
      200, {{"Content-Type", "application/json"}, {"Server-Timing", "total;dur=0.123"}}, "", {}};
  std::printf("head %.0f %.0f\n",
              nanoseconds([&] { return encode_head(response, 300, AfterResponse::keep_connection)->size(); }),
              nanoseconds([&] { return serialized(response); }));
  for (const std::string target : {"/v1/heartbeat", "/v1/admin/problems/7/decisions?after=120&limit=50"})
    std::printf("%s %.0f %.0f\n", target.c_str(), nanoseconds([&] {
                  const auto read = parse_target(target);
                  return read->path.size() + read->query.size();
                }),
                nanoseconds([&] { return parsed(target); }));
}
