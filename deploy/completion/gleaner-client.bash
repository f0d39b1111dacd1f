# Completion for gleaner-client, written by tools/completion.
_gleaner_client() {
  local at="" word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "${at:+$at }$word" in
      "join"|"run"|"leave"|"benchmark"|"sandbox") at="${at:+$at }$word" ;;
    esac
  done
  local offered=
  case "$at" in
    "") offered="join run leave benchmark sandbox --help --version" ;;
    "join") offered="--help --state --name" ;;
    "run") offered="--help --state --cores --run --cpu-share --benchmark-mflops --priority --sandbox --log-level" ;;
    "leave") offered="--help --state --all" ;;
    "benchmark") offered="--help" ;;
    "sandbox") offered="--help --state --sandbox --attack --json" ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$offered" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _gleaner_client gleaner-client
