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
complete -c gleaner -n '__gleaner_at ""' -f -a status -d 'Show what the client is doing, and its progress'
complete -c gleaner -n '__gleaner_at ""' -f -a pause -d 'Stop computing, for a time or until `resume`'
complete -c gleaner -n '__gleaner_at ""' -f -a resume -d 'Compute again; take work again after `finish`'
complete -c gleaner -n '__gleaner_at ""' -f -a finish -d 'Finish the units in hand and fetch no more work'
complete -c gleaner -n '__gleaner_at ""' -f -a why -d 'Say in one sentence why the client is computing, or why not'
complete -c gleaner -n '__gleaner_at ""' -f -a prefs -d 'Show, explain and change the preferences'
complete -c gleaner -n '__gleaner_at ""' -f -a receipts -d 'Show what the servers have acknowledged: this computer\'s contribution'
complete -c gleaner -n '__gleaner_at ""' -f -a projects -d 'Show the projects, and how much of this computer each gets'
complete -c gleaner -n '__gleaner_at ""' -f -a page -d 'Open a page about the client in a browser on this computer'
complete -c gleaner -n '__gleaner_at ""' -f -a log -d 'Show the client\'s latest log messages'
complete -c gleaner -n '__gleaner_at ""' -f -a top -d 'Show live in this terminal what the client is doing'
complete -c gleaner -n '__gleaner_at ""' -f -a quit -d 'Deliver finished results and stop the client'
complete -c gleaner -n '__gleaner_at ""' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at ""' -l version -d 'Display program version information and exit'
complete -c gleaner -n '__gleaner_at ""' -l state -r -d 'The client\'s state directory'
complete -c gleaner -n '__gleaner_at ""' -l socket -r -d 'The client\'s control socket, if it is not in that directory'
complete -c gleaner -n '__gleaner_at ""' -l json -d 'Print the answer as JSON'
complete -c gleaner -n '__gleaner_at "status"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "pause"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "pause"' -l until -r -d ''
complete -c gleaner -n '__gleaner_at "pause"' -l at-saved-point -d 'Let each core first save what it computes: its checkpoint, or the item'
complete -c gleaner -n '__gleaner_at "resume"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "finish"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "why"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "prefs"' -f -a show -d 'Show all preferences, and where each value comes from'
complete -c gleaner -n '__gleaner_at "prefs"' -f -a explain -d 'Explain what the preferences mean'
complete -c gleaner -n '__gleaner_at "prefs"' -f -a set -d 'Change a preference; it takes effect at once'
complete -c gleaner -n '__gleaner_at "prefs"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "receipts"' -l help -d 'Print this help message and exit'
complete -c gleaner -n '__gleaner_at "receipts"' -l all -d 'Show all receipts, not only the newest'
complete -c gleaner -n '__gleaner_at "receipts"' -l project -r -d 'Only those of this project: its name, key or server'
complete -c gleaner -n '__gleaner_at "projects"' -f -a share -d 'Set how much of this computer a project gets'
complete -c gleaner -n '__gleaner_at "projects"' -f -a suspend -d 'Stop computing for a project; finished results are still delivered'
complete -c gleaner -n '__gleaner_at "projects"' -f -a resume -d 'Compute for a suspended project again'
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
