#compdef gleaner-loadgen
# Completion for gleaner-loadgen, written by tools/completion.
_gleaner_loadgen() {
  local at="" word
  local -a offered
  for word in ${words[2,CURRENT-1]}; do
    case "${at:+$at }$word" in
      "enrol"|"run") at="${at:+$at }$word" ;;
    esac
  done
  case "$at" in
    "") offered=('enrol:Enrols hosts, and keeps them in a file' 'run:Lets hosts work, measures, and keeps a ledger' '--help:Print this help message and exit' '--version:Display program version information and exit') ;;
    "enrol") offered=('--help:Print this help message and exit' '--join-code:whose server it is, and the secret to enrol with; -\: a line of standard input (required)' '--server:where it is, instead of the join code'\''s address' '--hosts:how many hosts to be (1 to 2000000)' '--hosts-file:enrolled hosts, as `enrol` writes them' '--connections:connections that the hosts share (1 to 200000)' '--networks:loopback addresses to come from\: 127.0.0.1 and those after it (1 to 1048576)' '--opening:connections of each network to open at a time (1 to 1048576)' '--server-pid:the server'\''s process, to measure its CPU time and memory' '--seed:of what is drawn by chance, and of the results' '--stubborn:ask again at once, whatever the server says' '--json:print exactly one JSON document on standard output') ;;
    "run") offered=('--help:Print this help message and exit' '--join-code:whose server it is, and the secret to enrol with; -\: a line of standard input (required)' '--server:where it is, instead of the join code'\''s address' '--hosts:how many hosts to be (1 to 2000000)' '--hosts-file:enrolled hosts, as `enrol` writes them' '--connections:connections that the hosts share (1 to 200000)' '--networks:loopback addresses to come from\: 127.0.0.1 and those after it (1 to 1048576)' '--opening:connections of each network to open at a time (1 to 1048576)' '--server-pid:the server'\''s process, to measure its CPU time and memory' '--seed:of what is drawn by chance, and of the results' '--stubborn:ask again at once, whatever the server says' '--json:print exactly one JSON document on standard output' '--mode:what hosts do\: cycle (deliver and ask in one request), ask, heartbeat, or project (ask for the project)' '--reconnect:connections are kept, or new for each request\: resumed, or full handshakes' '--units-per-request:slots of each host (1 to 64)' '--heartbeats:heartbeats in each cycle (0 to 1000)' '--compute:milliseconds from a unit to its result' '--item:milliseconds on top for each of its items' '--think:milliseconds on top, on average (exponential)' '--payload:bytes of an item'\''s result (1 to 30000)' '--same-bytes:all results are the same bytes' '--errors:share of requests with which a host repeats a result, spoils it, hangs up, or vanishes (0 to 1)' '--verify-every:check all signatures of every Nth answer; 0\: of none' '--rounds:answers after which a host is silent; 0\: it never is' '--seconds:how long to measure (0.1 to 1e+06)' '--warm-up:seconds before (0 to 1e+06)' '--drain:seconds that open requests are waited for afterwards (0 to 1e+06)' '--ledger:write what became of every result') ;;
  esac
  _describe 'gleaner-loadgen' offered || _files
}
_gleaner_loadgen "$@"
