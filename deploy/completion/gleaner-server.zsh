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
    "") offered=('init:create a project\: keys, settings, empty store; prints the join code' 'run:serve a project until SIGTERM' 'front:receive and check what hosts send, and have the project'\''s leading server decide, until SIGTERM' 'link-key:make the key by which a project'\''s servers and front ends know each other' 'take-keys:use keys that `gleaner-admin keys rotate` made' 'check:while no server runs\: read everything that is stored, say what is damaged and what to do' 'backup:copy a project as it is at one moment, while its server runs or while it does not' 'restore:make a project of a backup, in the place of one that is lost' 'migrate:move a project'\''s rows into a database, its blobs into an object store, or back' 'challenge:answer one question of a certificate authority (ACME) on standard input and output' 'join-code:print the join code for strangers, which may be public' '--help:Print this help message and exit' '--version:Display program version information and exit') ;;
    "init") offered=('--help:Print this help message and exit' '--offline:where the root and signer keys go (default\: DIR.offline)' '--root-key:use this root key instead of making one\: pkcs11\:... in a hardware token, or a file' '--name:' '--address:address to listen on' '--port:' '--public-host:name or address that volunteers can reach (default\: this machine'\''s name)' '--public-certificate:volunteers are shown a certificate of a public authority\: the join code says so' '--days:') ;;
    "run") offered=('--help:Print this help message and exit' '--port:' '--log-level:' '--check-config:check settings and keys, say how managers are confined, then exit' '--accept-loss:go on with a store that is older than it was\: its log is gone, or an old copy is back') ;;
    "front") offered=('--help:Print this help message and exit' '--port:' '--log-level:' '--hold:') ;;
    "link-key") offered=('--help:Print this help message and exit') ;;
    "take-keys") offered=('--help:Print this help message and exit') ;;
    "check") offered=('--help:Print this help message and exit' '--json:print one JSON document' '--repair:free the items of lost results, remove what nothing refers to' '--deep:read every object, too, where blobs are in an object store\: else only what it lists' '--accept-loss:') ;;
    "backup") offered=('--help:Print this help message and exit' '--with-keys:with the server'\''s secret keys and the admin token\: keep such a backup as safe as the server' '--objects:with the blobs that are in an object store, which stay there otherwise' '--former:' '--copy:copy stored files; otherwise they are linked where both are on one disk' '--json:print one JSON document') ;;
    "restore") offered=('--help:Print this help message and exit' '--objects:put the blobs of the backup back into the object store, as far as it lacks them' '--copy:copy stored files; otherwise they are linked where both are on one disk' '--json:print one JSON document') ;;
    "migrate") offered=('--help:Print this help message and exit' '--to:the rows\: postgresql\://HOST/DATABASE, or store.sqlite' '--from:where the rows are, if not where the settings say (store.url)' '--blobs:archives, inputs and large results\: s3+https\://HOST/BUCKET\[/PREFIX\], or files' '--ahead:only copy what there is, while the server runs; the move is shorter then' '--json:print one JSON document for each\: blobs, then rows') ;;
    "challenge") offered=('--help:Print this help message and exit') ;;
    "join-code") offered=('--help:Print this help message and exit') ;;
  esac
  _describe 'gleaner-server' offered || _files
}
_gleaner_server "$@"
