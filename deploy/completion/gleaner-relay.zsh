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
    "") offered=('join:join a project as a relay, or move to another parent' 'run:serve the hosts under it until SIGTERM' 'code:print the join code of the hosts under it' 'status:how the running relay is' 'leave:leave the project; hosts under it have to join elsewhere' '--help:Print this help message and exit' '--version:Display program version information and exit' '--relay:') ;;
    "join") offered=('--help:Print this help message and exit' '--via:HOST\[\:PORT\] of the relay under which this one is to be (default\: the code'\''s server)' '--name:what it is called where it is looked at' '--address:address to listen on (default\: 0.0.0.0)' '--port:' '--public-host:name or address that its hosts can reach (default\: this machine'\''s name)') ;;
    "run") offered=('--help:Print this help message and exit' '--port:' '--log-level:' '--accept-loss:go on with a store that is older than it was\: its log is gone, or an old copy is back') ;;
    "code") offered=('--help:Print this help message and exit' '--fallback:the project'\''s join code, with which hosts join it when this relay is gone for good') ;;
    "status") offered=('--help:Print this help message and exit' '--json:print one JSON document') ;;
    "leave") offered=('--help:Print this help message and exit' '--force:also if results are lost that the project does not have yet') ;;
  esac
  _describe 'gleaner-relay' offered || _files
}
_gleaner_relay "$@"
