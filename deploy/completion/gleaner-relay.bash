# Completion for gleaner-relay, written by tools/completion.
_gleaner_relay() {
  local at="" word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "${at:+$at }$word" in
      "join"|"run"|"code"|"status"|"leave") at="${at:+$at }$word" ;;
    esac
  done
  local offered=
  case "$at" in
    "") offered="join run code status leave --help --version --relay" ;;
    "join") offered="--help --via --name --address --port --public-host" ;;
    "run") offered="--help --port --log-level --accept-loss" ;;
    "code") offered="--help --fallback" ;;
    "status") offered="--help --json" ;;
    "leave") offered="--help --force" ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$offered" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _gleaner_relay gleaner-relay
