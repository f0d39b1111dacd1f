# Completion for gleaner-loadgen, written by tools/completion.
function __gleaner_loadgen_at
    set -l at
    for word in (commandline -opc)[2..-1]
        set -l longer (string trim -- "$at $word")
        if contains -- $longer "enrol" "run"
            set at $longer
        end
    end
    test "$at" = "$argv[1]"
end
complete -c gleaner-loadgen -n '__gleaner_loadgen_at ""' -f -a enrol -d 'Enrols hosts, and keeps them in a file'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at ""' -f -a run -d 'Lets hosts work, measures, and keeps a ledger'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at ""' -l help -d 'Print this help message and exit'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at ""' -l version -d 'Display program version information and exit'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "enrol"' -l help -d 'Print this help message and exit'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "enrol"' -l join-code -r -d 'whose server it is, and the secret to enrol with; -: a line of standard input (required)'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "enrol"' -l server -r -d 'where it is, instead of the join code\'s address'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "enrol"' -l hosts -r -d 'how many hosts to be (1 to 2000000)'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "enrol"' -l hosts-file -r -d 'enrolled hosts, as `enrol` writes them'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "enrol"' -l connections -r -d 'connections that the hosts share (1 to 200000)'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "enrol"' -l networks -r -d 'loopback addresses to come from: 127.0.0.1 and those after it (1 to 1048576)'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "enrol"' -l opening -r -d 'connections of each network to open at a time (1 to 1048576)'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "enrol"' -l server-pid -r -d 'the server\'s process, to measure its CPU time and memory'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "enrol"' -l seed -r -d 'of what is drawn by chance, and of the results'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "enrol"' -l stubborn -d 'ask again at once, whatever the server says'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "enrol"' -l json -d 'print exactly one JSON document on standard output'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l help -d 'Print this help message and exit'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l join-code -r -d 'whose server it is, and the secret to enrol with; -: a line of standard input (required)'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l server -r -d 'where it is, instead of the join code\'s address'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l hosts -r -d 'how many hosts to be (1 to 2000000)'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l hosts-file -r -d 'enrolled hosts, as `enrol` writes them'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l connections -r -d 'connections that the hosts share (1 to 200000)'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l networks -r -d 'loopback addresses to come from: 127.0.0.1 and those after it (1 to 1048576)'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l opening -r -d 'connections of each network to open at a time (1 to 1048576)'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l server-pid -r -d 'the server\'s process, to measure its CPU time and memory'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l seed -r -d 'of what is drawn by chance, and of the results'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l stubborn -d 'ask again at once, whatever the server says'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l json -d 'print exactly one JSON document on standard output'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l mode -r -d 'what hosts do: cycle (deliver and ask in one request), ask, heartbeat, or project (ask for the project)'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l reconnect -r -d 'connections are kept, or new for each request: resumed, or full handshakes'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l units-per-request -r -d 'slots of each host (1 to 64)'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l heartbeats -r -d 'heartbeats in each cycle (0 to 1000)'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l compute -r -d 'milliseconds from a unit to its result'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l item -r -d 'milliseconds on top for each of its items'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l think -r -d 'milliseconds on top, on average (exponential)'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l payload -r -d 'bytes of an item\'s result (1 to 30000)'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l same-bytes -d 'all results are the same bytes'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l errors -r -d 'share of requests with which a host repeats a result, spoils it, hangs up, or vanishes (0 to 1)'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l verify-every -r -d 'check all signatures of every Nth answer; 0: of none'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l rounds -r -d 'answers after which a host is silent; 0: it never is'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l seconds -r -d 'how long to measure (0.1 to 1e+06)'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l warm-up -r -d 'seconds before (0 to 1e+06)'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l drain -r -d 'seconds that open requests are waited for afterwards (0 to 1e+06)'
complete -c gleaner-loadgen -n '__gleaner_loadgen_at "run"' -l ledger -r -d 'write what became of every result'
