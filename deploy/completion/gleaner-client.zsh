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
    "run") offered=('--help:Print this help message and exit' '--state:The client'\''s state directory' '--cores:How many kernels run at a time; 0\: one for each core (0 to 4096)' '--run:when-idle\: only while nobody uses this computer; always\: also while somebody does; never' '--cpu-share:The share of each core to use, for example 50% or 0.5' '--benchmark-mflops:Use this value instead of measuring' '--priority:idle\: kernels give way to all other programs; normal\: they compete with them' '--sandbox:on; or, where bubblewrap cannot be used, the words "weak\: I accept that kernels see names, sizes and times of my files"; or, to run kernels without a sandbox, "off\: I accept that kernels run with my rights"' '--log-level:trace, debug, info, warn, error or off') ;;
    "leave") offered=('--help:Print this help message and exit' '--state:The client'\''s state directory' '--all:Leave all projects') ;;
    "benchmark") offered=('--help:Print this help message and exit') ;;
    "sandbox") offered=('--help:Print this help message and exit' '--state:The client'\''s state directory' '--sandbox:As for run; else as the preferences say (on, weak\: I accept that kernels see names,  sizes and times of my files)' '--attack:Run a hostile kernel in it and report what it could not do; takes a minute' '--json:Print JSON (only with --attack)') ;;
  esac
  _describe 'gleaner-client' offered || _files
}
_gleaner_client "$@"
