// The only place that names the test framework's header: Debian 12 ships Catch2 2.13, later systems 3.x.
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
