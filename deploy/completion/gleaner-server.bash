# Completion for gleaner-server, written by tools/completion.
_gleaner_server() {
  local at="" word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "${at:+$at }$word" in
      "init"|"run"|"front"|"link-key"|"take-keys"|"check"|"backup"|"restore"|"migrate"|"challenge"|"join-code") at="${at:+$at }$word" ;;
    esac
  done
  local offered=
  case "$at" in
    "") offered="init run front link-key take-keys check backup restore migrate challenge join-code --help --version" ;;
    "init") offered="--help --offline --root-key --name --address --port --public-host --public-certificate --days" ;;
    "run") offered="--help --port --log-level --check-config --accept-loss" ;;
    "front") offered="--help --port --log-level --hold" ;;
    "link-key") offered="--help" ;;
    "take-keys") offered="--help" ;;
    "check") offered="--help --json --repair --deep --accept-loss" ;;
    "backup") offered="--help --with-keys --objects --former --copy --json" ;;
    "restore") offered="--help --objects --copy --json" ;;
    "migrate") offered="--help --to --from --blobs --ahead --json" ;;
    "challenge") offered="--help" ;;
    "join-code") offered="--help" ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$offered" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _gleaner_server gleaner-server
