#compdef gleaner-server
# Completion for gleaner-server, written by tools/completion.
_gleaner_server() {
  local at="" word
  local -a offered
  for word in ${words[2,CURRENT-1]}; do
    case "${at:+$at }$word" in
      "init"|"run"|"front"|"link-key"|"take-keys"|"check"|"backup"|"restore"|"migrate"|"challenge"|"join-code") at="${at:+$at }$word" ;;
    esac
  done
  case "$at" in
    "") offered=('init:create a project\: keys, settings, empty store; prints the join code' 'run:serve a project until SIGTERM' 'front:receive and check what hosts send, and have the project'\''s leading server decide, until SIGTERM' 'link-key:make the key by which a project'\''s servers and front ends know each other' 'take-keys:use keys that `gleaner-admin keys rotate` made' 'check:verify everything that is stored and report damage; the server must be stopped' 'backup:copy a project as it is at one moment, while its server runs or while it does not' 'restore:make a project of a backup, in the place of one that is lost' 'migrate:move a project'\''s rows into a database, its blobs into an object store, or back' 'challenge:answer one question of a certificate authority (ACME) on standard input and output' 'join-code:print the join code for volunteers, which may be public' '--help:Print this help message and exit' '--version:Display program version information and exit') ;;
    "init") offered=('--help:Print this help message and exit' '--offline:where the root and signer keys go (default\: DIR.offline)' '--root-key:use this root key instead of making one\: pkcs11\:... in a hardware token, or a file' '--name:what volunteers see (default\: A Gleaner project)' '--address:address to listen on (default\: 0.0.0.0)' '--port:port (1 to 65535; default\: 8443)' '--public-host:name or address that volunteers can reach (default\: this machine'\''s name)' '--public-certificate:the server presents a certificate of a public authority; the join code says so' '--days:validity of the work key and TLS certificates (1 to 36500; default\: 730)') ;;
    "run") offered=('--help:Print this help message and exit' '--port:port, instead of the one in the settings (0\: any free port) (0 to 65535)' '--log-level:trace, debug, info, warning or error' '--check-config:check settings and keys, say how managers are confined, then exit' '--accept-loss:start with a store that has lost its newest changes\: its log is gone, or it is an old copy') ;;
    "front") offered=('--help:Print this help message and exit' '--port:port, instead of the one in the settings (0\: any free port) (0 to 65535)' '--log-level:trace, debug, info, warning or error' '--hold:seconds for which requests wait while no server leads (0\: they do not) (0 to 60; default\: 5)') ;;
    "link-key") offered=('--help:Print this help message and exit') ;;
    "take-keys") offered=('--help:Print this help message and exit') ;;
    "check") offered=('--help:Print this help message and exit' '--json:print one JSON document' '--repair:free the items of lost results, remove what nothing refers to' '--deep:with blobs in an object store\: read every object, not only their list' '--accept-loss:repair a store that has lost its newest changes, as with run (only with --repair)') ;;
    "backup") offered=('--help:Print this help message and exit' '--with-keys:with the server'\''s secret keys and the admin token\: keep such a backup as safe as the server' '--objects:with the blobs that are in an object store, which stay there otherwise' '--former:an earlier backup with --objects; blobs that it has are not copied again (only with --objects)' '--copy:copy stored files; otherwise they are linked where both are on one disk' '--json:print one JSON document') ;;
    "restore") offered=('--help:Print this help message and exit' '--objects:upload blobs that the object store lacks from the backup' '--copy:copy stored files; otherwise they are linked where both are on one disk' '--json:print one JSON document') ;;
    "migrate") offered=('--help:Print this help message and exit' '--to:the rows\: postgresql\://HOST/DATABASE, or store.sqlite' '--from:where the rows are, if not where the settings say (store.url) (only with --to)' '--blobs:archives, inputs and large results\: s3+https\://HOST/BUCKET\[/PREFIX\], or files' '--ahead:only copy what there is, while the server runs; the move is shorter then' '--json:print one JSON document for each\: blobs, then rows') ;;
    "challenge") offered=('--help:Print this help message and exit') ;;
    "join-code") offered=('--help:Print this help message and exit') ;;
  esac
  _describe 'gleaner-server' offered || _files
}
_gleaner_server "$@"
