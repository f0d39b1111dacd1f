// The JSON that is the tool's own (not the wire's, which is protocol::encode()): the admin profile,
// parameters made from the command line, and what --json prints. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/base/result.h"

namespace gleaner::admin {

// admin.json, as `gleaner-server init` and `gleaner-relay join` write it.
struct ProfileDocument {
  std::string url;                  // https://HOST:PORT
  std::string root_fingerprint;     // 64 hex digits
  std::string token_file;           // relative to the profile
  bool public_certificate = false;  // an authority's certificate counts, too (protocol::Certificate)
  std::string tls_key;              // of a relay: SHA-256 of its SubjectPublicKeyInfo in hex; else empty
};
[[nodiscard]] Result<ProfileDocument> parse_profile(std::string_view text);

// An object of parameters: `base` (JSON object text; empty: {}) with "key=value" settings put over it. A
// value that is JSON is taken as such (3, true, [1,2], "text"), anything else is a string. Errors: invalid,
// naming the setting.
[[nodiscard]] Result<std::string> compose_parameters(std::string_view base,
                                                     const std::vector<std::string>& settings);

// A flat object {"version":1, ...} for --json, built field by field.
class Document {
 public:
  Document();
  ~Document();
  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;
  Document& text(const std::string& name, const std::string& value);
  Document& number(const std::string& name, std::int64_t value);
  Document& seconds(const std::string& name, double value);
  // JSON that is made already.
  Document& json(const std::string& name, const std::string& encoded);
  Document& list(const std::string& name, const std::vector<Document>& values);
  [[nodiscard]] std::string render() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gleaner::admin
