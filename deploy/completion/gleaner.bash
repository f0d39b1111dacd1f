# Completion for gleaner, written by tools/completion.
_gleaner() {
  local at="" word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "${at:+$at }$word" in
      "status"|"pause"|"resume"|"finish"|"why"|"prefs"|"receipts"|"projects"|"page"|"log"|"top"|"quit"|"prefs show"|"prefs explain"|"prefs set"|"prefs unset"|"projects share"|"projects suspend"|"projects resume") at="${at:+$at }$word" ;;
    esac
  done
  local offered=
  case "$at" in
    "") offered="status pause resume finish why prefs receipts projects page log top quit --help --version --state --socket --json" ;;
    "status") offered="--help" ;;
    "pause") offered="--help --until --at-saved-point" ;;
    "resume") offered="--help" ;;
    "finish") offered="--help" ;;
    "why") offered="--help" ;;
    "prefs") offered="show explain set unset --help" ;;
    "receipts") offered="--help --all --project" ;;
    "projects") offered="share suspend resume --help" ;;
    "page") offered="--help --port --no-browser" ;;
    "log") offered="--help" ;;
    "top") offered="--help" ;;
    "quit") offered="--help" ;;
    "prefs show") offered="--help" ;;
    "prefs explain") offered="--help" ;;
    "prefs set") offered="--help" ;;
    "prefs unset") offered="--help" ;;
    "projects share") offered="--help" ;;
    "projects suspend") offered="--help" ;;
    "projects resume") offered="--help" ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$offered" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _gleaner gleaner
