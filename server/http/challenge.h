// Proves to an ACME authority that this computer has its name (RFC 8555, 8.3: http-01): the authority asks by
// plain HTTP at port 80 for a file that its client, certbot, has put into a directory. Nothing else is
// answered, nothing is kept, and a connection is one request: systemd starts a process for each.
#pragma once

#include "server/http/server.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::http {

// The file .well-known/acme-challenge/TOKEN of `webroot`, if that is what the request asks for and the token
// is one (base64url, so that it names nothing beyond the directory); else 404. Links are not followed.
[[nodiscard]] Response answer_challenge(const Request& request, const io::Files& files,
                                        const io::Path& webroot);

// Reads a request from `in`, answers it on `out` and returns; without an answer if no request came whole
// within `patience`. Blocks; error unavailable: the descriptors fail.
[[nodiscard]] Status serve_challenge(int in, int out, const io::Files& files, const io::Path& webroot,
                                     Duration patience);

}  // namespace gleaner::http
