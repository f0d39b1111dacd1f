// What depends on dates: certificates that end, and how long the calendar was believed.
#include "server/policy/calendar.h"
#include "server/policy/certificates.h"
#include "tests/catch.h"
#include "tests/unit/says.h"

using namespace gleaner;
using namespace gleaner::policy;
using std::chrono::hours;
using std::chrono::minutes;

TEST_CASE("nothing expires for good in the first day after a start, or after a jump either way") {
  FakeClock clock;
  Calendar calendar;
  const auto pass = [&](Duration time) {
    for (Duration passed{}; passed < time; passed += minutes{1}) {
      clock.advance(minutes{1});
      calendar.look(clock.now(), clock.steady());
    }
  };
  const Duration months = hours{24 * 90};
  calendar.look(clock.now(), clock.steady());
  CHECK_FALSE(may_expire(calendar.agreed(), months));
  pass(hours{23});
  CHECK_FALSE(may_expire(calendar.agreed(), months));
  CHECK(may_expire(calendar.agreed(),
                   hours{1}));  // what is untouched for an hour by a calendar believed for one
  pass(hours{1});
  CHECK(may_expire(calendar.agreed(), months));
  for (const Duration jump :
       {Duration{hours{24 * 150}}, Duration{hours{-24 * 150}}, Duration{std::chrono::seconds{-11}}}) {
    clock.jump_calendar(jump);
    calendar.look(clock.now(), clock.steady());
    CHECK_FALSE(may_expire(calendar.agreed(), hours{1}));
    pass(minutes{11});
    clock.jump_calendar(-jump);
    pass(hours{23} + minutes{59});
    CHECK_FALSE(may_expire(calendar.agreed(), months));
    pass(minutes{2});
    CHECK(may_expire(calendar.agreed(), months));
  }
  // A clock that is being disciplined is believed; so are long waits between two looks.
  for (int i = 0; i < 60; ++i) {
    clock.jump_calendar(std::chrono::milliseconds{500});
    pass(minutes{1});
  }
  clock.advance(hours{50});
  calendar.look(clock.now(), clock.steady());
  CHECK(may_expire(calendar.agreed(), months));
}

TEST_CASE("of a certificate that ends people hear a month before, a week before, and afterwards") {
  const Timestamp end{hours{24 * 20'000}};
  const CertificateEnd certificate{"the key's certificate", end, "hosts get no work", "certify it again"};
  CHECK_FALSE(certificate_words(certificate, end - hours{24 * 31}));
  CHECK(says(*certificate_words(certificate, end - hours{24 * 29}), "runs out on"));
  CHECK(says(*certificate_words(certificate, end - hours{24 * 6}), "within a week"));
  const std::string over = *certificate_words(certificate, end);
  CHECK(says(over, "expired on"));
  CHECK(says(over, "hosts get no work"));
  CHECK(says(over, "certify it again"));
}
