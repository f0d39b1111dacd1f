# Completion for gleaner-relay, written by tools/completion.
function __gleaner_relay_at
    set -l at
    for word in (commandline -opc)[2..-1]
        set -l longer (string trim -- "$at $word")
        if contains -- $longer "join" "run" "code" "status" "leave"
            set at $longer
        end
    end
    test "$at" = "$argv[1]"
end
complete -c gleaner-relay -n '__gleaner_relay_at ""' -f -a join -d 'join a project as a relay, or move to another parent'
complete -c gleaner-relay -n '__gleaner_relay_at ""' -f -a run -d 'serve the hosts under it until SIGTERM'
complete -c gleaner-relay -n '__gleaner_relay_at ""' -f -a code -d 'print the join code of the hosts under it'
complete -c gleaner-relay -n '__gleaner_relay_at ""' -f -a status -d 'show the state of the running relay'
complete -c gleaner-relay -n '__gleaner_relay_at ""' -f -a leave -d 'leave the project; hosts under it have to join elsewhere'
complete -c gleaner-relay -n '__gleaner_relay_at ""' -l help -d 'Print this help message and exit'
complete -c gleaner-relay -n '__gleaner_relay_at ""' -l version -d 'Display program version information and exit'
complete -c gleaner-relay -n '__gleaner_relay_at ""' -l relay -r -d 'the relay\'s directory (default: /var/lib/gleaner-relay; environment: GLEANER_RELAY)'
complete -c gleaner-relay -n '__gleaner_relay_at "join"' -l help -d 'Print this help message and exit'
complete -c gleaner-relay -n '__gleaner_relay_at "join"' -l via -r -d 'the parent relay (default: the code\'s server)'
complete -c gleaner-relay -n '__gleaner_relay_at "join"' -l name -r -d 'name of the relay in lists and pages'
complete -c gleaner-relay -n '__gleaner_relay_at "join"' -l address -r -d 'address to listen on (default: 0.0.0.0)'
complete -c gleaner-relay -n '__gleaner_relay_at "join"' -l port -r -d 'port to listen on (default: 8443) (1 to 65535)'
complete -c gleaner-relay -n '__gleaner_relay_at "join"' -l public-host -r -d 'name or address that its hosts can reach (default: this machine\'s name)'
complete -c gleaner-relay -n '__gleaner_relay_at "run"' -l help -d 'Print this help message and exit'
complete -c gleaner-relay -n '__gleaner_relay_at "run"' -l port -r -d 'port, instead of the one in the settings (0: any free port) (0 to 65535)'
complete -c gleaner-relay -n '__gleaner_relay_at "run"' -l log-level -r -d 'trace, debug, info, warning or error'
complete -c gleaner-relay -n '__gleaner_relay_at "run"' -l accept-loss -d 'start with a store that has lost its newest changes: its log is gone, or it is an old copy'
complete -c gleaner-relay -n '__gleaner_relay_at "code"' -l help -d 'Print this help message and exit'
complete -c gleaner-relay -n '__gleaner_relay_at "code"' -l fallback -r -d 'the project\'s join code, with which hosts join it when this relay is gone for good'
complete -c gleaner-relay -n '__gleaner_relay_at "status"' -l help -d 'Print this help message and exit'
complete -c gleaner-relay -n '__gleaner_relay_at "status"' -l json -d 'print one JSON document'
complete -c gleaner-relay -n '__gleaner_relay_at "leave"' -l help -d 'Print this help message and exit'
complete -c gleaner-relay -n '__gleaner_relay_at "leave"' -l force -d 'also if results that the project does not have yet are lost'
