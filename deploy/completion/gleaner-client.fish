# Completion for gleaner-client, written by tools/completion.
function __gleaner_client_at
    set -l at
    for word in (commandline -opc)[2..-1]
        set -l longer (string trim -- "$at $word")
        if contains -- $longer "join" "run" "leave" "benchmark" "sandbox"
            set at $longer
        end
    end
    test "$at" = "$argv[1]"
end
complete -c gleaner-client -n '__gleaner_client_at ""' -f -a join -d 'Join a project; a client can join several'
complete -c gleaner-client -n '__gleaner_client_at ""' -f -a run -d 'Compute until stopped'
complete -c gleaner-client -n '__gleaner_client_at ""' -f -a leave -d 'Leave a project and delete its data'
complete -c gleaner-client -n '__gleaner_client_at ""' -f -a benchmark -d 'Measure the processor (Linpack 500) and memory'
complete -c gleaner-client -n '__gleaner_client_at ""' -f -a sandbox -d 'Test and describe how kernels are confined on this computer'
complete -c gleaner-client -n '__gleaner_client_at ""' -l help -d 'Print this help message and exit'
complete -c gleaner-client -n '__gleaner_client_at ""' -l version -d 'Display program version information and exit'
complete -c gleaner-client -n '__gleaner_client_at "join"' -l help -d 'Print this help message and exit'
complete -c gleaner-client -n '__gleaner_client_at "join"' -l state -r -d 'The client\'s state directory'
complete -c gleaner-client -n '__gleaner_client_at "join"' -l name -r -d 'The name of this computer in the project (default: its host name)'
complete -c gleaner-client -n '__gleaner_client_at "run"' -l help -d 'Print this help message and exit'
complete -c gleaner-client -n '__gleaner_client_at "run"' -l state -r -d 'The client\'s state directory'
complete -c gleaner-client -n '__gleaner_client_at "run"' -l cores -r -d 'How many kernels run at a time; 0: one for each core (0 to 4096)'
complete -c gleaner-client -n '__gleaner_client_at "run"' -l run -r -d 'when-idle: only while nobody uses this computer; always: also while somebody does; never'
complete -c gleaner-client -n '__gleaner_client_at "run"' -l cpu-share -r -d 'The share of each core to use, for example 50% or 0.5'
complete -c gleaner-client -n '__gleaner_client_at "run"' -l benchmark-mflops -r -d 'Use this value instead of measuring'
complete -c gleaner-client -n '__gleaner_client_at "run"' -l priority -r -d 'idle: kernels give way to all other programs; normal: they compete with them'
complete -c gleaner-client -n '__gleaner_client_at "run"' -l sandbox -r -d 'on; or, where bubblewrap cannot be used, the words "weak: I accept that kernels see names, sizes and times of my files"; or, to run kernels without a sandbox, "off: I accept that kernels run with my rights"'
complete -c gleaner-client -n '__gleaner_client_at "run"' -l log-level -r -d 'trace, debug, info, warn, error or off'
complete -c gleaner-client -n '__gleaner_client_at "leave"' -l help -d 'Print this help message and exit'
complete -c gleaner-client -n '__gleaner_client_at "leave"' -l state -r -d 'The client\'s state directory'
complete -c gleaner-client -n '__gleaner_client_at "leave"' -l all -d 'Leave all projects'
complete -c gleaner-client -n '__gleaner_client_at "benchmark"' -l help -d 'Print this help message and exit'
complete -c gleaner-client -n '__gleaner_client_at "sandbox"' -l help -d 'Print this help message and exit'
complete -c gleaner-client -n '__gleaner_client_at "sandbox"' -l state -r -d 'The client\'s state directory'
complete -c gleaner-client -n '__gleaner_client_at "sandbox"' -l sandbox -r -d 'As for run; else as the preferences say (on, weak: I accept that kernels see names,  sizes and times of my files)'
complete -c gleaner-client -n '__gleaner_client_at "sandbox"' -l attack -d 'Run a hostile kernel in it and report what it could not do; takes a minute'
complete -c gleaner-client -n '__gleaner_client_at "sandbox"' -l json -d 'Print JSON (only with --attack)'
