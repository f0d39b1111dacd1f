// The outside signal of this computer: a program of the client's user, or a server on the loopback device.
#pragma once

#include <memory>

#include "client/host/outside_source.h"
#include "shared/io/http_client.h"
#include "shared/io/process.h"

namespace gleaner::platform {

// `processes` outlives it. A program starts without arguments, with PATH and LANG alone, at the lowest
// priority; one that is not done in time, or says too much, is killed with all that it started.
[[nodiscard]] std::unique_ptr<host::OutsideSource> make_outside_source(
    io::ProcessRunner& processes, Duration patience = host::OutsideSource::patience);

}  // namespace gleaner::platform
