#compdef gleaner-admin
# Completion for gleaner-admin, written by tools/completion.
_gleaner_admin() {
  local at="" word
  local -a offered
  for word in ${words[2,CURRENT-1]}; do
    case "${at:+$at }$word" in
      "keys"|"app"|"problem"|"strategy"|"flow"|"host"|"code"|"relay"|"token"|"ban"|"audit"|"console"|"status"|"contribution"|"run-local"|"plan"|"keys create"|"keys signer"|"keys work"|"keys rotate"|"keys revoke"|"keys revoked"|"app new"|"app wrap"|"app check"|"app sign"|"app add"|"app list"|"app show"|"problem add"|"problem list"|"problem show"|"problem watch"|"problem strategy"|"problem set"|"problem explain"|"problem errors"|"problem output"|"problem pause"|"problem resume"|"problem retry"|"problem append"|"problem upgrade"|"problem cancel"|"problem result"|"problem preview"|"problem delete"|"problem decisions"|"strategy list"|"flow run"|"flow show"|"host list"|"host show"|"host units"|"host hold"|"host release"|"host tag"|"host revoke"|"code add"|"code list"|"code show"|"code rotate"|"code withdraw"|"relay allow"|"relay quota"|"relay list"|"relay explain"|"token add"|"token list"|"token withdraw"|"ban add"|"ban list"|"ban remove"|"audit list"|"audit verify") at="${at:+$at }$word" ;;
    esac
  done
  case "$at" in
    "") offered=('keys:Make and certify a project'\''s keys; works offline' 'app:Write, check, sign, add and list applications' 'problem:Add, watch and end problems; fetch their results' 'strategy:What may be named as a strategy' 'flow:Run problems that need each other'\''s results' 'host:List volunteers'\'' hosts, hold, tag and revoke them' 'code:Make and withdraw the codes with which hosts join' 'relay:Allow relays, which other hosts join through' 'token:Make and withdraw the tokens of administrators' 'ban:Keep codes, hosts and networks out' 'audit:Show who changed what, and verify that log' 'console:Log in to the project'\''s page in a browser' 'status:Show the server'\''s state, its warnings and the join code' 'contribution:Show what hosts contributed, day by day (UTC)' 'run-local:Compute a problem on this machine, without a server or signatures' 'plan:Say what a fleet, or the live project, can do' '--help:Print this help message and exit' '--project:admin profile, or the directory it is in' '--server:the server'\''s address, instead of the profile'\''s' '--join-code:take address and root key fingerprint from a join code; -\: from a line of standard input' '--token-file:file with the admin token (mode 0600)' '--json:print exactly one JSON document on standard output' '--version:Display program version information and exit') ;;
    "keys") offered=('create:Make a root key, and a signer key that it certifies' 'signer:Certify another signer of applications' 'work:Certify a server'\''s work key again (renewal)' 'rotate:Make a server'\''s new work and TLS keys, certified by the root key' 'revoke:Take back keys and applications\: makes the list that the server publishes' 'revoked:Show what a list revokes' '--help:Print this help message and exit') ;;
    "app") offered=('new:Write an application to begin with, which builds and tests itself' 'wrap:Write the bundle of a command-line program that you have' 'check:Run a bundle here as a grid would, and worse, and say what is wrong with it' 'sign:Pack a bundle directory and sign it; works offline' 'add:Upload a signed application to the server' 'list:List the server'\''s applications' 'show:Show one application\: what it is, its parameters and inputs' '--help:Print this help message and exit') ;;
    "problem") offered=('add:Add a problem\: an application with parameters and inputs' 'list:List all problems' 'show:Show a problem, who works on it, and its results' 'watch:Show live progress until the problem has ended' 'strategy:Go on with another strategy; no unit is lost' 'set:Change a running problem'\''s share of the hosts' 'explain:Tell why the last units had their sizes' 'errors:Show what failed\: the same last words once' 'output:Show what a running kernel of it says' 'pause:Hand out no more of it; hosts stop computing it' 'resume:Go on with a paused problem' 'retry:Try again what failed' 'append:Add rows to the table of a problem' 'upgrade:Have a mended version of its application compute the rest' 'cancel:End a problem for good; what is accepted is kept' 'result:Download the results and print their paths' 'preview:Download what the application shows of the items in hand' 'delete:Delete a problem with all its results' 'decisions:Show the server'\''s latest decisions and their reasons' '--help:Print this help message and exit') ;;
    "strategy") offered=('list:List the strategies, a line each with its source' '--help:Print this help message and exit') ;;
    "flow") offered=('run:Add what can begin, and go on until all is finished' 'show:Show how far it is' '--help:Print this help message and exit') ;;
    "host") offered=('list:List all hosts' 'show:Show one host' 'units:Show its last units\: of which problem, when, and what became of them' 'hold:Give a host no new units until it is released; what it has goes on' 'release:Give it units again' 'tag:Set a host'\''s tags' 'revoke:Refuse a host from now on; what it was doing is given to others' '--help:Print this help message and exit') ;;
    "code") offered=('add:Make a code and show its join code, once' 'list:List all codes' 'show:Show one code' 'rotate:Give a code a new secret; its hosts stay' 'withdraw:Let nobody join with a code any more' '--help:Print this help message and exit') ;;
    "relay") offered=('allow:Make a code for one relay and show its join code, once' 'quota:Change how many hosts may be under a relay' 'list:List all relays' 'explain:Say what limits the hosts under a relay, and whom it would do as well without' '--help:Print this help message and exit') ;;
    "token") offered=('add:Make a token and show it, once' 'list:List all tokens' 'withdraw:Let a token count no more' '--help:Print this help message and exit') ;;
    "ban") offered=('add:Ban a network, a host'\''s key or a code' 'list:List all bans that are not over' 'remove:End a ban' '--help:Print this help message and exit') ;;
    "audit") offered=('list:List all changes, and what was refused' 'verify:Walk the log and say the first change that does not fit' '--help:Print this help message and exit') ;;
    "console") offered=('--help:Print this help message and exit' '--no-open:only print the link') ;;
    "status") offered=('--help:Print this help message and exit') ;;
    "contribution") offered=('--help:Print this help message and exit' '--days:') ;;
    "run-local") offered=('--help:Print this help message and exit' '--parameters:JSON file with the problem'\''s parameters' '--param:one parameter; JSON values are taken as such, anything else is a text (repeatable)' '--input:' '--table:of a wrapped program whose items are rows\: the table (the first line names the columns)' '--out:directory for the results; made if need be' '--jobs:' '--strategy:' '--unconfined:to run the bundle'\''s programs without the sandbox, where they can read and change all that you can\: "I accept that the bundle'\''s programs run with my rights"' '--keep:keep the work directory, for a look at what manager and kernels wrote') ;;
    "plan") offered=('--help:Print this help message and exit' '--problem:plan what is left of a problem, and predict its finish' '--mflop:' '--load-seconds:' '--result-seconds:' '--load-bytes:' '--result-bytes:' '--half-duplex:hosts and server cannot send while they receive' '--plot:draw who receives, computes and reports when (needs gnuplot)' '--show:') ;;
    "keys create") offered=('--help:Print this help message and exit' '--out:directory for the files; made if need be' '--root:use this root key instead of making one' '--name:the signer'\''s name, shown with what it signed' '--days:') ;;
    "keys signer") offered=('--help:Print this help message and exit' '--root:' '--days:' '--name:the signer'\''s name, shown with what it signed' '--public-key:certify this key instead of making one' '--out:file for the new key; its certificate is written beside it as NAME.certificate.json (with --public-key\: file for the certificate)') ;;
    "keys work") offered=('--help:Print this help message and exit' '--root:' '--days:' '--public-key:' '--out:file for the certificate; else it is printed') ;;
    "keys rotate") offered=('--help:Print this help message and exit' '--root:' '--out:directory for the files; made if need be' '--host:name or address of the server, for browsers; clients need none' '--only-work:' '--only-tls:' '--days:') ;;
    "keys revoke") offered=('--help:Print this help message and exit' '--root:' '--list:the list, gone on with if it is there (default\: revocations.json beside the root key'\''s file)' '--work-key:a server'\''s work key, or a file with its certificate' '--signer:a signer'\''s key, or a file with its certificate\: all that it signed ends' '--tls-key:a server'\''s TLS key, by its certificate (keys/tls.pem) or by digest' '--archive:one version of an application, by archive or digest' '--application:with --below\: all lower versions of this one' '--below:the lowest version that may still run' '--reason:shown to administrators and volunteers') ;;
    "keys revoked") offered=('--help:Print this help message and exit') ;;
    "app new") offered=('--help:Print this help message and exit' '--language:' '--out:the directory to make; else NAME here') ;;
    "app wrap") offered=('--help:Print this help message and exit' '--name:the application'\''s name; else the program'\''s' '--app-version:' '--title:a line for volunteers' '--meaning:what one item is' '--suffix:ending of {out}, and of standard output' '--number:' '--ignore:a part of the output that differs between equal runs, such as a date\: png, gzip, tar or lines=EXPRESSION (repeatable)' '--compare:a program that comes along and is run on the server with two results'\'' files\: exit status 0 if they are equal, 1 if not; for what --ignore cannot remove, such as the last digits of numbers' '--data:a file or directory that comes along, as {bundle}/NAME (repeatable)' '--bundle-libraries:take along the shared libraries that it needs, their loader and their licences' '--shell:take along a static busybox, for a script of the shell' '--memory:' '--out:the directory to make; else NAME here') ;;
    "app check") offered=('--help:Print this help message and exit' '--parameters:JSON file with the problem'\''s parameters' '--param:one parameter; JSON values are taken as such, anything else is a text (repeatable)' '--input:' '--table:of a wrapped program whose items are rows\: the table (the first line names the columns)' '--seed:the random choices\: where it is cut, killed, damaged' '--platform:check the kernel that hosts of this platform get, for example aarch64-linux; one of another kind of computer runs under qemu-user or Wine, if that is installed' '--unconfined:to run the bundle'\''s programs without the sandbox, where they can read and change all that you can\: "I accept that the bundle'\''s programs run with my rights"' '--keep:keep the work directory, for a look at what was written') ;;
    "app sign") offered=('--help:Print this help message and exit' '--key:the signer'\''s key' '--certificate:its certificate; else NAME.certificate.json beside the key' '--out:directory for the two files that are written') ;;
    "app add") offered=('--help:Print this help message and exit') ;;
    "app list") offered=('--help:Print this help message and exit') ;;
    "app show") offered=('--help:Print this help message and exit') ;;
    "problem add") offered=('--help:Print this help message and exit' '--app:' '--name:what to call it; else the application'\''s name and a number' '--parameters:JSON file with the problem'\''s parameters' '--param:one parameter; JSON values are taken as such, anything else is a text (repeatable)' '--input:' '--table:of a wrapped program whose items are rows\: the table (the first line names the columns)' '--strategy:' '--straggler:what is done about units that lag behind, a rule of `strategy list`; else as the server'\''s settings say' '--weight:' '--priority:' '--validation:which results are believed\: none, checks, spot\:P, quorum\:N or adaptive; else checks where the application'\''s manager finds every wrong result, and adaptive where it does not' '--commit-seconds:' '--watch:' '--estimate:') ;;
    "problem list") offered=('--help:Print this help message and exit') ;;
    "problem show") offered=('--help:Print this help message and exit') ;;
    "problem watch") offered=('--help:Print this help message and exit' '--interval:') ;;
    "problem strategy") offered=('--help:Print this help message and exit' '--straggler:what is done about units that lag behind') ;;
    "problem set") offered=('--help:Print this help message and exit' '--weight:' '--priority:') ;;
    "problem explain") offered=('--help:Print this help message and exit' '--count:') ;;
    "problem errors") offered=('--help:Print this help message and exit' '--full:with all that the programs said, such as tracebacks') ;;
    "problem output") offered=('--help:Print this help message and exit' '--host:on this host; else on any that computes it' '--follow:go on with what it says from now on, until Control-C') ;;
    "problem pause") offered=('--help:Print this help message and exit') ;;
    "problem resume") offered=('--help:Print this help message and exit') ;;
    "problem retry") offered=('--help:Print this help message and exit' '--failed:rows of a table whose program failed, and nothing else') ;;
    "problem append") offered=('--help:Print this help message and exit' '--table:the rows, below the same columns'\'' names' '--input:') ;;
    "problem upgrade") offered=('--help:Print this help message and exit' '--app:') ;;
    "problem cancel") offered=('--help:Print this help message and exit' '--yes:do not ask') ;;
    "problem result") offered=('--help:Print this help message and exit' '--out:directory for them; made if need be' '--force:replace files that are there with other content' '--row:' '--partial:without results yet, or ever\: what is accepted, as the application shows it or else item by item') ;;
    "problem preview") offered=('--help:Print this help message and exit' '--out:directory for them; made if need be' '--force:replace files that are there with other content') ;;
    "problem delete") offered=('--help:Print this help message and exit' '--yes:do not ask') ;;
    "problem decisions") offered=('--help:Print this help message and exit' '--count:') ;;
    "strategy list") offered=('--help:Print this help message and exit' '--kind:') ;;
    "flow run") offered=('--help:Print this help message and exit' '--again:add nodes once more that failed, were cancelled, are stopped or have changed') ;;
    "flow show") offered=('--help:Print this help message and exit') ;;
    "host list") offered=('--help:Print this help message and exit' '--tag:only those that have it') ;;
    "host show") offered=('--help:Print this help message and exit') ;;
    "host units") offered=('--help:Print this help message and exit' '--count:') ;;
    "host hold") offered=('--help:Print this help message and exit' '--reason:its owner is told') ;;
    "host release") offered=('--help:Print this help message and exit') ;;
    "host tag") offered=('--help:Print this help message and exit') ;;
    "host revoke") offered=('--help:Print this help message and exit' '--may-return:it may join again, also if it was revoked before' '--yes:do not ask') ;;
    "code add") offered=('--help:Print this help message and exit' '--hosts:' '--once:one host may' '--expires:for so long\: 12h, 30d, 8w' '--own:' '--strangers:' '--tag:given to its hosts; may be repeated') ;;
    "code list") offered=('--help:Print this help message and exit') ;;
    "code show") offered=('--help:Print this help message and exit') ;;
    "code rotate") offered=('--help:Print this help message and exit') ;;
    "code withdraw") offered=('--help:Print this help message and exit' '--with-hosts:put out the hosts that joined with it, too' '--yes:do not ask') ;;
    "relay allow") offered=('--help:Print this help message and exit' '--children:' '--expires:the code is good for so long\: 12h, 30d, 8w' '--own:' '--strangers:') ;;
    "relay quota") offered=('--help:Print this help message and exit') ;;
    "relay list") offered=('--help:Print this help message and exit') ;;
    "relay explain") offered=('--help:Print this help message and exit' '--item-bytes:' '--result-bytes:') ;;
    "token add") offered=('--help:Print this help message and exit' '--role:viewer, operator or owner' '--expires:for so long\: 12h, 30d, 8w; at most as long as the token that makes it') ;;
    "token list") offered=('--help:Print this help message and exit') ;;
    "token withdraw") offered=('--help:Print this help message and exit' '--with-made:withdraw the tokens and join codes that it made, too, and what those tokens made' '--yes:do not ask') ;;
    "ban add") offered=('--help:Print this help message and exit' '--network:' '--host:' '--key:' '--code:' '--reason:which the banned are told' '--expires:for so long\: 12h, 30d, 8w' '--force:also the network that you speak from') ;;
    "ban list") offered=('--help:Print this help message and exit') ;;
    "ban remove") offered=('--help:Print this help message and exit' '--network:' '--host:' '--key:' '--code:') ;;
    "audit list") offered=('--help:Print this help message and exit' '--since:of the last 12h, 30d, 8w' '--actor:by the admin token of this name') ;;
    "audit verify") offered=('--help:Print this help message and exit' '--head:a head that was noted before must be among it') ;;
  esac
  _describe 'gleaner-admin' offered || _files
}
_gleaner_admin "$@"
