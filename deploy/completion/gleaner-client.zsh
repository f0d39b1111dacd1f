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
    "") offered=('join:Join a project; a client can join several' 'run:Compute until stopped' 'leave:Leave a project and delete its data' 'benchmark:Measure the processor (Linpack 500) and memory' 'sandbox:Test and describe how kernels are confined on this computer' '--help:Print this help message and exit' '--version:Display program version information and exit') ;;
    "join") offered=('--help:Print this help message and exit' '--state:The client'\''s state directory' '--name:The name of this computer in the project (default\: its host name)') ;;
    "run") offered=('--help:Print this help message and exit' '--state:The client'\''s state directory' '--cores:' '--run:' '--cpu-share:The share of each core to use, for example 50% or 0.5' '--benchmark-mflops:' '--priority:' '--sandbox:' '--log-level:') ;;
    "leave") offered=('--help:Print this help message and exit' '--state:The client'\''s state directory' '--all:Leave all projects') ;;
    "benchmark") offered=('--help:Print this help message and exit') ;;
    "sandbox") offered=('--help:Print this help message and exit' '--state:The client'\''s state directory' '--sandbox:' '--attack:Let a hostile kernel loose in it, and tell what holds; takes a minute' '--json:Print JSON') ;;
  esac
  _describe 'gleaner-client' offered || _files
}
_gleaner_client "$@"
