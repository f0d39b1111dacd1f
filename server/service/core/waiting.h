// What a problem waits for that is no fault of its own or of its application: the server's disk is full or
// fails, a process was killed from outside, its manager crashes over a result. The problem's stored message
// says so for as long as it lasts, and people are told it as what it waits for (describe.h); it goes on by
// itself when it is over. Operations of the writer.
#pragma once

#include <string>
#include <string_view>

#include "server/service/core/transaction.h"

namespace gleaner::service {

// A message that begins so is taken away when the problem goes on.
inline constexpr std::string_view waiting_mark = "waits: ";

// Does this error of a job say something of this machine, and not of the problem?
[[nodiscard]] bool may_pass(const Error& error);
// Its job is begun again, the sooner the fewer times it was in vain: advance() looks at `job_at`.
[[nodiscard]] Status put_off_job(Transaction& tx, Problem& problem, const std::string& why);
// Says it, unless the message says something else already that an administrator is to read.
[[nodiscard]] Status say_it_waits(Transaction& tx, Problem& problem, const std::string& why);
[[nodiscard]] Status goes_on(Transaction& tx, Problem& problem);

}  // namespace gleaner::service
