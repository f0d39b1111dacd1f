# Completion for gleaner-server, written by tools/completion.
function __gleaner_server_at
    set -l at
    for word in (commandline -opc)[2..-1]
        set -l longer (string trim -- "$at $word")
        if contains -- $longer "init" "run" "take-keys" "check" "backup" "restore" "migrate" "challenge" "join-code"
            set at $longer
        end
    end
    test "$at" = "$argv[1]"
end
complete -c gleaner-server -n '__gleaner_server_at ""' -f -a init -d 'create a project: keys, settings, empty store; prints the join code'
complete -c gleaner-server -n '__gleaner_server_at ""' -f -a run -d 'serve a project until SIGTERM'
complete -c gleaner-server -n '__gleaner_server_at ""' -f -a take-keys -d 'use keys that `gleaner-admin keys rotate` made'
complete -c gleaner-server -n '__gleaner_server_at ""' -f -a check -d 'while no server runs: read everything that is stored, say what is damaged and what to do'
complete -c gleaner-server -n '__gleaner_server_at ""' -f -a backup -d 'copy a project as it is at one moment, while its server runs or while it does not'
complete -c gleaner-server -n '__gleaner_server_at ""' -f -a restore -d 'make a project of a backup, in the place of one that is lost'
complete -c gleaner-server -n '__gleaner_server_at ""' -f -a migrate -d 'while no server runs: move a project\'s rows into a database, its blobs into an object store, or back'
complete -c gleaner-server -n '__gleaner_server_at ""' -f -a challenge -d 'answer one question of a certificate authority (ACME) on standard input and output'
complete -c gleaner-server -n '__gleaner_server_at ""' -f -a join-code -d 'print the project\'s join code'
complete -c gleaner-server -n '__gleaner_server_at ""' -l help -d 'Print this help message and exit'
complete -c gleaner-server -n '__gleaner_server_at ""' -l version -d 'Display program version information and exit'
complete -c gleaner-server -n '__gleaner_server_at "init"' -l help -d 'Print this help message and exit'
complete -c gleaner-server -n '__gleaner_server_at "init"' -l offline -r -d 'where the root and signer keys go (default: DIR.offline)'
complete -c gleaner-server -n '__gleaner_server_at "init"' -l root-key -r -d 'use this root key instead of making one: pkcs11:... in a hardware token, or a file'
complete -c gleaner-server -n '__gleaner_server_at "init"' -l name -r -d ''
complete -c gleaner-server -n '__gleaner_server_at "init"' -l address -r -d 'address to listen on'
complete -c gleaner-server -n '__gleaner_server_at "init"' -l port -r -d ''
complete -c gleaner-server -n '__gleaner_server_at "init"' -l public-host -r -d 'name or address that volunteers can reach (default: this machine\'s name)'
complete -c gleaner-server -n '__gleaner_server_at "init"' -l days -r -d ''
complete -c gleaner-server -n '__gleaner_server_at "run"' -l help -d 'Print this help message and exit'
complete -c gleaner-server -n '__gleaner_server_at "run"' -l port -r -d ''
complete -c gleaner-server -n '__gleaner_server_at "run"' -l log-level -r -d ''
complete -c gleaner-server -n '__gleaner_server_at "run"' -l check-config -d 'check settings and keys, say how managers are confined, then exit'
complete -c gleaner-server -n '__gleaner_server_at "run"' -l accept-loss -d 'go on with a store that is older than it was: its log is gone, or an old copy is back'
complete -c gleaner-server -n '__gleaner_server_at "take-keys"' -l help -d 'Print this help message and exit'
complete -c gleaner-server -n '__gleaner_server_at "check"' -l help -d 'Print this help message and exit'
complete -c gleaner-server -n '__gleaner_server_at "check"' -l json -d 'print one JSON document'
complete -c gleaner-server -n '__gleaner_server_at "check"' -l repair -d 'free the items of lost results, remove what nothing refers to'
complete -c gleaner-server -n '__gleaner_server_at "check"' -l deep -d 'read every object, too, where blobs are in an object store: else only what it lists'
complete -c gleaner-server -n '__gleaner_server_at "check"' -l accept-loss -r -d ''
complete -c gleaner-server -n '__gleaner_server_at "backup"' -l help -d 'Print this help message and exit'
complete -c gleaner-server -n '__gleaner_server_at "backup"' -l with-keys -d 'with the server\'s secret keys and the admin token: keep such a backup as safe as the server'
complete -c gleaner-server -n '__gleaner_server_at "backup"' -l copy -d 'copy stored files; otherwise they are linked where both are on one disk'
complete -c gleaner-server -n '__gleaner_server_at "backup"' -l json -d 'print one JSON document'
complete -c gleaner-server -n '__gleaner_server_at "restore"' -l help -d 'Print this help message and exit'
complete -c gleaner-server -n '__gleaner_server_at "restore"' -l copy -d 'copy stored files; otherwise they are linked where both are on one disk'
complete -c gleaner-server -n '__gleaner_server_at "restore"' -l json -d 'print one JSON document'
complete -c gleaner-server -n '__gleaner_server_at "migrate"' -l help -d 'Print this help message and exit'
complete -c gleaner-server -n '__gleaner_server_at "migrate"' -l to -r -d ''
complete -c gleaner-server -n '__gleaner_server_at "migrate"' -l from -r -d 'where the rows are, if not where the settings say (store.url)'
complete -c gleaner-server -n '__gleaner_server_at "migrate"' -l blobs -r -d 'archives, inputs and large results: s3+https://HOST/BUCKET[/PREFIX], or files'
complete -c gleaner-server -n '__gleaner_server_at "migrate"' -l ahead -r -d ''
complete -c gleaner-server -n '__gleaner_server_at "migrate"' -l json -d 'print one JSON document for each: blobs, then rows'
complete -c gleaner-server -n '__gleaner_server_at "challenge"' -l help -d 'Print this help message and exit'
complete -c gleaner-server -n '__gleaner_server_at "join-code"' -l help -d 'Print this help message and exit'
