# Completion for gleaner, written by tools/completion.
function __gleaner_at
    set -l at
    for word in (commandline -opc)[2..-1]
        set -l longer (string trim -- "$at $word")
        if contains -- $longer "status" "pause" "resume" "finish" "why" "prefs" "receipts" "projects" "page" "log" "top" "quit" "prefs show" "prefs explain" "prefs set" "projects share" "projects suspend" "projects resume"
            set at $longer
        end
    end
    test "$at" = "$argv[1]"
end
complete -c gleaner -n '__gleaner_at ""' -f -a status -d 'What is it doing, and how far is it?'
complete -c gleaner -n '__gleaner_at ""' -f -a pause -d 'Stop computing, for a time or until `resume`'
complete -c gleaner -n '__gleaner_at ""' -f -a resume -d 'Compute again; take work again after `finish`'
complete -c gleaner -n '__gleaner_at ""' -f -a finish -d 'Complete the units in hand, take no more'
complete -c gleaner -n '__gleaner_at ""' -f -a why -d 'Why is it computing, or why not? In one sentence'
complete -c gleaner -n '__gleaner_at ""' -f -a prefs -d 'Show, explain and set the preferences'
complete -c gleaner -n '__gleaner_at ""' -f -a receipts -d 'What the servers acknowledged: this computer\'s contribution'
complete -c gleaner -n '__gleaner_at ""' -f -a projects -d 'Which projects it computes for, and how much each gets'
complete -c gleaner -n '__gleaner_at ""' -f -a page -d 'What it does, in a browser on this computer'
complete -c gleaner -n '__gleaner_at ""' -f -a log -d 'What the client said lately'
complete -c gleaner -n '__gleaner_at ""' -f -a top -d 'What it does, live in this terminal'
complete -c gleaner -n '__gleaner_at ""' -f -a quit -d 'Deliver what is finished and stop the client'
complete -c gleaner -n '__gleaner_at ""' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at ""' -l version -d 'Display program version information and exit'
complete -c gleaner -n '__gleaner_at ""' -l state -r -d 'Directory of the client\'s state'
complete -c gleaner -n '__gleaner_at ""' -l socket -r -d 'Its control socket, if it is elsewhere'
complete -c gleaner -n '__gleaner_at ""' -l json -d 'Print the answer as JSON'
complete -c gleaner -n '__gleaner_at "status"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "pause"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "resume"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "finish"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "why"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "prefs"' -f -a show -d 'All of them, and where each is from'
complete -c gleaner -n '__gleaner_at "prefs"' -f -a explain -d 'What they mean'
complete -c gleaner -n '__gleaner_at "prefs"' -f -a set -d 'Change one; it holds at once'
complete -c gleaner -n '__gleaner_at "prefs"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "receipts"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "receipts"' -l all -d 'Not only the newest'
complete -c gleaner -n '__gleaner_at "receipts"' -l project -r -d 'Of this one only: its name, key or server'
complete -c gleaner -n '__gleaner_at "projects"' -f -a share -d 'How much of this computer one gets'
complete -c gleaner -n '__gleaner_at "projects"' -f -a suspend -d 'Compute nothing for one; deliver its results'
complete -c gleaner -n '__gleaner_at "projects"' -f -a resume -d 'Compute for a suspended one again'
complete -c gleaner -n '__gleaner_at "projects"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "page"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "page"' -l port -r -d ''
complete -c gleaner -n '__gleaner_at "page"' -l no-browser -d 'Only print the address'
complete -c gleaner -n '__gleaner_at "log"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "top"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "quit"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "prefs show"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "prefs explain"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "prefs set"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "projects share"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "projects suspend"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "projects resume"' -l help -d 'Print this help message and exit'
