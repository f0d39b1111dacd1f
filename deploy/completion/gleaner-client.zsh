#compdef gleaner-client
# Completion for gleaner-client, written by tools/completion.
_gleaner_client() {
  local at="" word
  local -a offered
  for word in ${words[2,CURRENT-1]}; do
    case "${at:+$at }$word" in
      "join"|"run"|"leave"|"benchmark"|"sandbox") at="${at:+$at }$word" ;;
    esac
  done
  case "$at" in
    "") offered=('join:Join a project, or one more' 'run:Compute until stopped' 'leave:Leave a project and forget it' 'benchmark:Measure processor (Linpack 500) and memory' 'sandbox:Try and say how kernels are confined on this computer' '--help:Print this help message and exit' '--version:Display program version information and exit') ;;
    "join") offered=('--help:Print this help message and exit' '--state:Directory of the client'\''s state' '--name:What to call this computer (default\: its name)') ;;
    "run") offered=('--help:Print this help message and exit' '--state:Directory of the client'\''s state' '--cores:' '--run:' '--cpu-share:Of each core, for example 50% or 0.5' '--benchmark-mflops:' '--priority:' '--sandbox:' '--log-level:') ;;
    "leave") offered=('--help:Print this help message and exit' '--state:Directory of the client'\''s state' '--all:All of them') ;;
    "benchmark") offered=('--help:Print this help message and exit') ;;
    "sandbox") offered=('--help:Print this help message and exit' '--state:Directory of the client'\''s state') ;;
  esac
  _describe 'gleaner-client' offered || _files
}
_gleaner_client "$@"
