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
    "enrol") offered=('--help:Print this help message and exit' '--join-code:whose server it is, and the secret to enrol with; -\: a line of standard input' '--server:where it is, instead of the join code'\''s address' '--hosts:' '--hosts-file:enrolled hosts, as `enrol` writes them' '--connections:' '--networks:' '--opening:' '--server-pid:the server'\''s process, to measure its CPU time and memory' '--seed:of what is drawn by chance, and of the results' '--stubborn:ask again at once, whatever the server says' '--json:print exactly one JSON document on standard output') ;;
    "run") offered=('--help:Print this help message and exit' '--join-code:whose server it is, and the secret to enrol with; -\: a line of standard input' '--server:where it is, instead of the join code'\''s address' '--hosts:' '--hosts-file:enrolled hosts, as `enrol` writes them' '--connections:' '--networks:' '--opening:' '--server-pid:the server'\''s process, to measure its CPU time and memory' '--seed:of what is drawn by chance, and of the results' '--stubborn:ask again at once, whatever the server says' '--json:print exactly one JSON document on standard output' '--mode:what hosts do\: cycle (deliver and ask in one request), ask, heartbeat, or project (ask for the project)' '--reconnect:connections are kept, or new for each request\: resumed, or full handshakes' '--units-per-request:' '--heartbeats:' '--compute:' '--item:' '--think:' '--payload:' '--same-bytes:all results are the same bytes' '--errors:' '--verify-every:' '--rounds:' '--seconds:' '--warm-up:' '--drain:' '--ledger:write what became of every result') ;;
  esac
  _describe 'gleaner-loadgen' offered || _files
}
_gleaner_loadgen "$@"
