#compdef gleaner
# Completion for gleaner, written by tools/completion.
_gleaner() {
  local at="" word
  local -a offered
  for word in ${words[2,CURRENT-1]}; do
    case "${at:+$at }$word" in
      "status"|"pause"|"resume"|"finish"|"why"|"prefs"|"receipts"|"projects"|"page"|"log"|"top"|"quit"|"prefs show"|"prefs explain"|"prefs set"|"prefs unset"|"projects share"|"projects suspend"|"projects resume") at="${at:+$at }$word" ;;
    esac
  done
  case "$at" in
    "") offered=('status:Show what the client is doing, and its progress' 'pause:Stop computing, for a time or until `resume`' 'resume:Compute again; take work again after `finish`' 'finish:Finish current work; fetch no new units' 'why:Explain in one sentence why the client is computing, or why not' 'prefs:Show, explain and change the preferences' 'receipts:Show what the servers have acknowledged\: this computer'\''s contribution' 'projects:Show the projects, and how much of this computer each gets' 'page:Open a page about the client in a browser on this computer' 'log:Show the client'\''s latest log messages' 'top:Show live in this terminal what the client is doing' 'quit:Deliver finished results and stop the client' '--help:Print this help message and exit' '--version:Display program version information and exit' '--state:The client'\''s state directory' '--socket:The client'\''s control socket, if it is not in that directory' '--json:Print the answer as JSON') ;;
    "status") offered=('--help:Print this help message and exit') ;;
    "pause") offered=('--help:Print this help message and exit' '--until:Until this local time\: 18\:30, "mon 8\:00" or "2026-12-24 18\:00"' '--at-saved-point:Stop each core when it has saved its work\: a checkpoint, or the item') ;;
    "resume") offered=('--help:Print this help message and exit') ;;
    "finish") offered=('--help:Print this help message and exit') ;;
    "why") offered=('--help:Print this help message and exit') ;;
    "prefs") offered=('show:Show all preferences, and where each value comes from' 'explain:Explain what the preferences mean' 'set:Change a preference; it takes effect at once' 'unset:Reset a preference to the preset, or to its default' '--help:Print this help message and exit') ;;
    "receipts") offered=('--help:Print this help message and exit' '--all:Show all receipts, not only the newest' '--project:Only those of this project\: its name, key or server') ;;
    "projects") offered=('share:Set how much of this computer a project gets' 'suspend:Stop computing for a project; finished results are still delivered' 'resume:Compute for a suspended project again' '--help:Print this help message and exit') ;;
    "page") offered=('--help:Print this help message and exit' '--port:The port to listen on; 0\: any free port (0 to 65535)' '--no-browser:Only print the address') ;;
    "log") offered=('--help:Print this help message and exit') ;;
    "top") offered=('--help:Print this help message and exit') ;;
    "quit") offered=('--help:Print this help message and exit') ;;
    "prefs show") offered=('--help:Print this help message and exit') ;;
    "prefs explain") offered=('--help:Print this help message and exit') ;;
    "prefs set") offered=('--help:Print this help message and exit') ;;
    "prefs unset") offered=('--help:Print this help message and exit') ;;
    "projects share") offered=('--help:Print this help message and exit') ;;
    "projects suspend") offered=('--help:Print this help message and exit') ;;
    "projects resume") offered=('--help:Print this help message and exit') ;;
  esac
  _describe 'gleaner' offered || _files
}
_gleaner "$@"
