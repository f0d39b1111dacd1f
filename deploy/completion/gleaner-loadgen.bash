# Completion for gleaner-loadgen, written by tools/completion.
_gleaner_loadgen() {
  local at="" word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "${at:+$at }$word" in
      "enrol"|"run") at="${at:+$at }$word" ;;
    esac
  done
  local offered=
  case "$at" in
    "") offered="enrol run --help --version" ;;
    "enrol") offered="--help --join-code --server --hosts --hosts-file --connections --networks --opening --server-pid --seed --stubborn --json" ;;
    "run") offered="--help --join-code --server --hosts --hosts-file --connections --networks --opening --server-pid --seed --stubborn --json --mode --reconnect --units-per-request --heartbeats --compute --item --think --payload --same-bytes --errors --verify-every --rounds --seconds --warm-up --drain --ledger" ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$offered" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _gleaner_loadgen gleaner-loadgen
