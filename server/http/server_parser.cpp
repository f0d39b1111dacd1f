#include "server/http/server_parser.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cctype>
#include <limits>
#include <string_view>

#include "server/http/server_response.h"
#include "server/http/server_target.h"

namespace gleaner::http {
namespace {

namespace beast = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;
using BodyBytes = boost::optional<std::uint64_t>;

constexpr auto header_bytes_max = static_cast<std::size_t>(limits::header_bytes_max);
// A body's memory is reserved as announced up to here, then grows as it comes: announcing costs a peer
// nothing.
constexpr std::uint64_t reserved_bytes_max = 1 << 20;

std::string lower_case(string_view text) {
  std::string lower(text.data(), text.size());
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// Beast's parser, writing into our Request.
class Collector final : public beast::basic_parser<true> {
 public:
  Request request;
  std::string target;
  bool host_repeated = false;
  bool version_1_0 = false;

 private:
  void on_request_impl(beast::verb, string_view method, string_view text, int version,
                       error_code& ec) override {
    request.method.assign(method.data(), method.size());
    target.assign(text.data(), text.size());
    version_1_0 = version < 11;
    ec = {};
  }
  void on_response_impl(int, string_view, int, error_code& ec) override { ec = beast::error::bad_version; }
  void on_field_impl(beast::field field, string_view name, string_view value, error_code& ec) override {
    ec = {};
    if (is_header_done()) return;  // trailers are not used
    const auto [entry, fresh] =
        request.headers.try_emplace(lower_case(name), std::string(value.data(), value.size()));
    if (fresh) return;
    if (field == beast::field::host) host_repeated = true;
    entry->second.append(", ").append(value.data(), value.size());
  }
  void on_header_impl(error_code& ec) override { ec = {}; }
  void on_body_init_impl(const BodyBytes& length, error_code& ec) override {
    if (length) request.body.reserve(static_cast<std::size_t>(std::min(*length, reserved_bytes_max)));
    ec = {};
  }
  std::size_t on_body_impl(string_view bytes, error_code& ec) override {
    request.body.append(bytes.data(), bytes.size());
    ec = {};
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code& ec) override { ec = {}; }
  std::size_t on_chunk_body_impl(std::uint64_t, string_view bytes, error_code& ec) override {
    return on_body_impl(bytes, ec);
  }
  void on_finish_impl(error_code& ec) override { ec = {}; }
};

}  // namespace

struct RequestParser::State {
  Collector parser;
  Response refusal;
  std::size_t header_bytes = 0;
  bool in_body = false;
  std::int64_t body_bytes_max = std::numeric_limits<std::int64_t>::max();
};

RequestParser::RequestParser() : state_(std::make_unique<State>()) {
  state_->parser.body_limit(boost::none);  // set when the header is known
  state_->parser.header_limit(static_cast<std::uint32_t>(header_bytes_max));
}
RequestParser::~RequestParser() = default;

RequestParser::Step RequestParser::refuse(int status, const std::string& detail) {
  state_->refusal = problem(status, detail);
  return Step::refused;
}

RequestParser::Step RequestParser::check_head() {
  Collector& parser = state_->parser;
  auto target = parse_target(parser.target);
  if (!target.ok()) return refuse(400, target.error().message);
  parser.request.path = std::move(target->path);
  parser.request.query = std::move(target->query);
  const auto& headers = parser.request.headers;
  if (parser.host_repeated || (!parser.version_1_0 && !headers.contains("host"))) {
    return refuse(400, "the request must have one Host header");
  }
  if (const auto coding = headers.find("transfer-encoding"); coding != headers.end()) {
    // Beast would take other codings for "no body" and the body for the next request.
    if (lower_case(coding->second) != "chunked" || parser.version_1_0) {
      return refuse(501, "the only transfer encoding understood is chunked");
    }
  }
  return Step::head;
}

// Beast bounds a single header field, not their sum; nor what it waits for in a chunk's header or the
// trailers.
std::size_t RequestParser::bytes_held(std::size_t waiting) const {
  const Collector& parser = state_->parser;
  if (state_->in_body) return parser.is_done() ? 0 : waiting;
  return state_->header_bytes + (parser.is_header_done() ? 0 : waiting);
}

RequestParser::Step RequestParser::feed(std::string& input) {
  Collector& parser = state_->parser;
  // Beast compares an announced length with the limit only while it reads the header, when it is not known.
  if (state_->in_body && announced_bytes() > state_->body_bytes_max)
    return refuse(413, "the request body is larger than allowed here");
  std::string_view rest = input;
  error_code ec;
  while (!rest.empty() && !parser.is_done() && !ec) {
    const std::size_t used = parser.put(boost::asio::const_buffer(rest.data(), rest.size()), ec);
    rest.remove_prefix(used);
    if (!state_->in_body) {
      state_->header_bytes += used;
      if (!ec && parser.is_header_done()) break;
    }
  }
  input.erase(0, input.size() - rest.size());
  if (ec && ec != beast::error::need_more) {
    if (ec == beast::error::header_limit) return refuse(431, "the request header is too large");
    if (ec == beast::error::body_limit) return refuse(413, "the request body is larger than allowed here");
    return refuse(400, "the request is not valid HTTP/1.1: " + ec.message());
  }
  if (bytes_held(input.size()) > header_bytes_max) return refuse(431, "the request header is too large");
  if (!state_->in_body && parser.is_header_done()) {
    state_->in_body = true;
    parser.eager(true);
    return check_head();
  }
  return parser.is_done() ? Step::complete : Step::need_more;
}

bool RequestParser::complete() const {
  return state_->parser.is_done();
}
const Request& RequestParser::request() const {
  return state_->parser.request;
}
Request RequestParser::take() {
  return std::move(state_->parser.request);
}
const Response& RequestParser::refusal() const {
  return state_->refusal;
}

std::int64_t RequestParser::announced_bytes() const {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min(state_->parser.content_length().value_or(0), most));
}

bool RequestParser::expects_continue() const {
  const auto expected = request().headers.find("expect");
  return expected != request().headers.end() && lower_case(expected->second) == "100-continue" &&
         !state_->parser.version_1_0;
}

bool RequestParser::keeps_alive() const {
  return !state_->parser.version_1_0 && state_->parser.keep_alive();
}

void RequestParser::limit_body(std::int64_t bytes_max) {
  state_->body_bytes_max = bytes_max;
  state_->parser.body_limit(static_cast<std::uint64_t>(bytes_max));
}

}  // namespace gleaner::http
