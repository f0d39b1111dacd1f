// audit list, verify: who changed what, and whether that is what the server once wrote.
#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "shared/crypto/act_chain.h"
#include "shared/protocol/codec.h"
#include "tools/admin/access_api.h"
#include "tools/admin/commands.h"
#include "tools/admin/documents.h"
#include "tools/admin/figures.h"

namespace gleaner::admin {
namespace {

struct LogChoice {
  std::string since;
  std::string actor;
};

struct NotedHead {
  std::string text;  // NUMBER:DIGEST; empty: none
};

void print_head(Session& session, const protocol::ChainPlace& head) {
  session.people() << "head " << crypto::place_text(head) << '\n';
}

Result<ExitCode> list_acts(Session& session, const LogChoice& choice) {
  Timestamp since;
  if (!choice.since.empty()) {
    TRY_ASSIGN(const std::int64_t seconds, seconds_of("--since", choice.since));
    since = session.outside().clock.now() - std::chrono::seconds{seconds};
  }
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(protocol::AuditPage log, get_audit_log(*api));
  std::erase_if(log.acts, [&](const protocol::Act& act) {
    return act.at < since || (!choice.actor.empty() && act.actor != choice.actor);
  });
  std::erase_if(log.refusals, [&](const protocol::RefusalCount& count) {
    return count.last_at < since || (!choice.actor.empty() && count.actor != choice.actor);
  });
  if (session.json()) {
    session.print_json(protocol::encode(log));
    return ExitCode::ok;
  }
  Table acts({{"NUMBER", Align::right}, {"AT"}, {"WHO"}, {"ROLE"}, {"ACTION"}, {"OBJECT"}, {"NOW"}});
  for (const protocol::Act& act : log.acts)
    acts.add({std::to_string(act.number),
              time_text(act.at),
              {act.actor, Tint::bold},
              act.role,
              act.action,
              act.object,
              act.summary});
  session.people() << acts.render(session.people_display());
  if (!log.refusals.empty()) {
    Table refusals({{"REFUSED", Align::right}, {"LAST"}, {"WHO"}, {"WHY"}, {"ACTION"}, {"LAST FROM"}});
    for (const protocol::RefusalCount& count : log.refusals)
      refusals.add({{count_text(count.times), Tint::warning},
                    time_text(count.last_at),
                    count.actor,
                    count.kind,
                    count.action,
                    count.last_network});
    session.people() << '\n' << refusals.render(session.people_display());
  }
  print_head(session, log.head);
  return ExitCode::ok;
}

// The log has that act, and it is the same. `digests`: of all it has, by number.
Status check_noted(const protocol::ChainPlace& noted, const std::map<std::int64_t, std::string>& digests) {
  const auto met = digests.find(noted.number);
  if (met == digests.end())
    return Error{ErrorKind::untrusted, "the audit log was cut: it ends with act " +
                                           std::to_string(digests.rbegin()->first) +
                                           ", and the noted head was number " + std::to_string(noted.number)};
  if (met->second != noted.digest)
    return Error{ErrorKind::untrusted,
                 "act " + std::to_string(noted.number) +
                     " of the audit log is not the one whose head was noted: it, or one "
                     "before it, was changed, and the chain was written anew"};
  return {};
}

Result<ExitCode> verify_acts(Session& session, const NotedHead& option) {
  std::optional<protocol::ChainPlace> noted;
  if (!option.text.empty()) {
    noted = crypto::parse_place(option.text);
    if (!noted)
      return Error{ErrorKind::invalid,
                   "--head: expected NUMBER:DIGEST, as `gleaner-admin audit verify` printed it"};
  }
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const protocol::AuditPage log, get_audit_log(*api));
  if (noted && noted->number < log.start.number)
    return Error{ErrorKind::not_found, "act " + std::to_string(noted->number) +
                                           " is not kept any more: note a newer head from time to time"};
  crypto::ActChain chain(log.start);
  std::map<std::int64_t, std::string> digests{{log.start.number, log.start.digest}};
  for (const protocol::Act& act : log.acts) {
    TRY(chain.add(act));
    digests[chain.place().number] = chain.place().digest;
  }
  TRY(chain.end(log.head));
  if (noted) TRY(check_noted(*noted, digests));
  const bool kept = log.noted && log.noted->number >= log.start.number;
  if (kept) TRY(check_noted(*log.noted, digests));
  if (session.json()) {
    session.print_json(Document()
                           .number("acts", static_cast<std::int64_t>(log.acts.size()))
                           .number("number", log.head.number)
                           .text("digest", log.head.digest)
                           .text("head", crypto::place_text(log.head))
                           .render());
    return ExitCode::ok;
  }
  session.people() << "Audit log intact: " << counted(std::ssize(log.acts), "entry", "entries")
                   << (noted || kept ? ", including the noted head" : "") << '\n';
  print_head(session, log.head);
  if (!noted)
    session.people()
        << "The server notes its head outside the store. Whoever can write all of the server's files can "
           "write both anew:\nnote this head elsewhere, and give it to --head the next time.\n";
  return ExitCode::ok;
}

}  // namespace

void add_audit_commands(CLI::App& program, Action& chosen) {
  CLI::App* audit = program.add_subcommand("audit", "Show and verify the log of administrators' changes");
  audit->require_subcommand(1);

  const auto choice = std::make_shared<LogChoice>();
  CLI::App* list = audit->add_subcommand("list", "List all changes and refused attempts");
  list->add_option("--since", choice->since, "only of the last 12h, 30d, 8w")->type_name("TIME");
  list->add_option("--actor", choice->actor, "only those of this admin token")->type_name("NAME");
  on_parse(list, chosen, choice, list_acts);

  const auto noted = std::make_shared<NotedHead>();
  CLI::App* verify = audit->add_subcommand("verify", "Verify the log and report the first broken entry");
  verify->add_option("--head", noted->text, "fail unless the log contains this head, noted before")
      ->type_name("NUMBER:DIGEST");
  on_parse(verify, chosen, noted, verify_acts);
}

}  // namespace gleaner::admin
