#compdef gleaner
# Completion for gleaner, written by tools/completion.
_gleaner() {
  local at="" word
  local -a offered
  for word in ${words[2,CURRENT-1]}; do
    case "${at:+$at }$word" in
      "status"|"pause"|"resume"|"finish"|"why"|"prefs"|"receipts"|"projects"|"page"|"log"|"top"|"quit"|"prefs show"|"prefs explain"|"prefs set"|"projects share"|"projects suspend"|"projects resume") at="${at:+$at }$word" ;;
    esac
  done
  case "$at" in
    "") offered=('status:What is it doing, and how far is it?' 'pause:Stop computing, for a time or until `resume`' 'resume:Compute again; take work again after `finish`' 'finish:Complete the units in hand, take no more' 'why:Why is it computing, or why not? In one sentence' 'prefs:Show, explain and set the preferences' 'receipts:What the servers acknowledged\: this computer'\''s contribution' 'projects:Which projects it computes for, and how much each gets' 'page:What it does, in a browser on this computer' 'log:What the client said lately' 'top:What it does, live in this terminal' 'quit:Deliver what is finished and stop the client' '--help:Print this help message and exit' '--version:Display program version information and exit' '--state:Directory of the client'\''s state' '--socket:Its control socket, if it is elsewhere' '--json:Print the answer as JSON') ;;
    "status") offered=('--help:Print this help message and exit') ;;
    "pause") offered=('--help:Print this help message and exit') ;;
    "resume") offered=('--help:Print this help message and exit') ;;
    "finish") offered=('--help:Print this help message and exit') ;;
    "why") offered=('--help:Print this help message and exit') ;;
    "prefs") offered=('show:All of them, and where each is from' 'explain:What they mean' 'set:Change one; it holds at once' '--help:Print this help message and exit') ;;
    "receipts") offered=('--help:Print this help message and exit' '--all:Not only the newest' '--project:Of this one only\: its name, key or server') ;;
    "projects") offered=('share:How much of this computer one gets' 'suspend:Compute nothing for one; deliver its results' 'resume:Compute for a suspended one again' '--help:Print this help message and exit') ;;
    "page") offered=('--help:Print this help message and exit' '--port:' '--no-browser:Only print the address') ;;
    "log") offered=('--help:Print this help message and exit') ;;
    "top") offered=('--help:Print this help message and exit') ;;
    "quit") offered=('--help:Print this help message and exit') ;;
    "prefs show") offered=('--help:Print this help message and exit') ;;
    "prefs explain") offered=('--help:Print this help message and exit') ;;
    "prefs set") offered=('--help:Print this help message and exit') ;;
    "projects share") offered=('--help:Print this help message and exit') ;;
    "projects suspend") offered=('--help:Print this help message and exit') ;;
    "projects resume") offered=('--help:Print this help message and exit') ;;
  esac
  _describe 'gleaner' offered || _files
}
_gleaner "$@"
