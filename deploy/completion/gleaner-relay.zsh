#compdef gleaner-relay
# Completion for gleaner-relay, written by tools/completion.
_gleaner_relay() {
  local at="" word
  local -a offered
  for word in ${words[2,CURRENT-1]}; do
    case "${at:+$at }$word" in
      "join"|"run"|"code"|"status"|"leave") at="${at:+$at }$word" ;;
    esac
  done
  case "$at" in
    "") offered=('join:join a project as a relay, or move to another parent' 'run:serve the hosts under it until SIGTERM' 'code:print the join code of the hosts under it' 'status:show the state of the running relay' 'leave:leave the project; hosts under it have to join elsewhere' '--help:Print this help message and exit' '--version:Display program version information and exit' '--relay:the relay'\''s directory (default\: /var/lib/gleaner-relay; environment\: GLEANER_RELAY)') ;;
    "join") offered=('--help:Print this help message and exit' '--via:the parent relay (default\: the code'\''s server)' '--name:name of the relay in lists and pages' '--address:address to listen on (default\: 0.0.0.0)' '--port:port to listen on (default\: 8443) (1 to 65535)' '--public-host:name or address that its hosts can reach (default\: this machine'\''s name)') ;;
    "run") offered=('--help:Print this help message and exit' '--port:port, instead of the one in the settings (0\: any free port) (0 to 65535)' '--log-level:trace, debug, info, warning or error' '--accept-loss:start with a store that has lost its newest changes\: its log is gone, or it is an old copy') ;;
    "code") offered=('--help:Print this help message and exit' '--fallback:the project'\''s join code, with which hosts join it when this relay is gone for good') ;;
    "status") offered=('--help:Print this help message and exit' '--json:print one JSON document') ;;
    "leave") offered=('--help:Print this help message and exit' '--force:also if results that the project does not have yet are lost') ;;
  esac
  _describe 'gleaner-relay' offered || _files
}
_gleaner_relay "$@"
