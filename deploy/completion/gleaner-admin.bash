# Completion for gleaner-admin, written by tools/completion.
_gleaner_admin() {
  local at="" word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "${at:+$at }$word" in
      "keys"|"app"|"problem"|"strategy"|"flow"|"host"|"code"|"relay"|"token"|"ban"|"audit"|"console"|"status"|"contribution"|"run-local"|"plan"|"keys create"|"keys signer"|"keys work"|"keys rotate"|"keys revoke"|"keys revoked"|"app new"|"app wrap"|"app check"|"app sign"|"app add"|"app list"|"app show"|"problem add"|"problem list"|"problem show"|"problem watch"|"problem strategy"|"problem set"|"problem explain"|"problem errors"|"problem output"|"problem pause"|"problem resume"|"problem retry"|"problem append"|"problem upgrade"|"problem cancel"|"problem result"|"problem preview"|"problem delete"|"problem decisions"|"strategy list"|"flow run"|"flow show"|"host list"|"host show"|"host units"|"host hold"|"host release"|"host tag"|"host revoke"|"code add"|"code list"|"code show"|"code rotate"|"code withdraw"|"relay allow"|"relay quota"|"relay list"|"relay explain"|"token add"|"token list"|"token withdraw"|"ban add"|"ban list"|"ban remove"|"audit list"|"audit verify") at="${at:+$at }$word" ;;
    esac
  done
  local offered=
  case "$at" in
    "") offered="keys app problem strategy flow host code relay token ban audit console status contribution run-local plan --help --project --server --join-code --token-file --json --version" ;;
    "keys") offered="create signer work rotate revoke revoked --help" ;;
    "app") offered="new wrap check sign add list show --help" ;;
    "problem") offered="add list show watch strategy set explain errors output pause resume retry append upgrade cancel result preview delete decisions --help" ;;
    "strategy") offered="list --help" ;;
    "flow") offered="run show --help" ;;
    "host") offered="list show units hold release tag revoke --help" ;;
    "code") offered="add list show rotate withdraw --help" ;;
    "relay") offered="allow quota list explain --help" ;;
    "token") offered="add list withdraw --help" ;;
    "ban") offered="add list remove --help" ;;
    "audit") offered="list verify --help" ;;
    "console") offered="--help --no-open" ;;
    "status") offered="--help" ;;
    "contribution") offered="--help --days" ;;
    "run-local") offered="--help --parameters --param --input --table --out --jobs --strategy --unconfined --keep" ;;
    "plan") offered="--help --problem --mflop --load-seconds --result-seconds --load-bytes --result-bytes --half-duplex --plot --show" ;;
    "keys create") offered="--help --out --root --name --days" ;;
    "keys signer") offered="--help --root --days --name --public-key --out" ;;
    "keys work") offered="--help --root --days --public-key --out" ;;
    "keys rotate") offered="--help --root --out --host --only-work --only-tls --days" ;;
    "keys revoke") offered="--help --root --list --work-key --signer --tls-key --archive --application --below --reason" ;;
    "keys revoked") offered="--help" ;;
    "app new") offered="--help --language --out" ;;
    "app wrap") offered="--help --name --app-version --title --meaning --suffix --number --ignore --compare --data --bundle-libraries --library --shell --memory --out" ;;
    "app check") offered="--help --parameters --param --input --table --seed --platform --unconfined --keep" ;;
    "app sign") offered="--help --key --certificate --out" ;;
    "app add") offered="--help" ;;
    "app list") offered="--help" ;;
    "app show") offered="--help" ;;
    "problem add") offered="--help --app --name --parameters --param --input --table --after --strategy --straggler --weight --priority --validation --commit-seconds --watch --estimate" ;;
    "problem list") offered="--help" ;;
    "problem show") offered="--help" ;;
    "problem watch") offered="--help --interval" ;;
    "problem strategy") offered="--help --straggler" ;;
    "problem set") offered="--help --weight --priority" ;;
    "problem explain") offered="--help --count" ;;
    "problem errors") offered="--help --full" ;;
    "problem output") offered="--help --host --follow" ;;
    "problem pause") offered="--help" ;;
    "problem resume") offered="--help" ;;
    "problem retry") offered="--help --failed" ;;
    "problem append") offered="--help --table --input" ;;
    "problem upgrade") offered="--help --app" ;;
    "problem cancel") offered="--help --yes" ;;
    "problem result") offered="--help --out --force --row --partial" ;;
    "problem preview") offered="--help --out --force" ;;
    "problem delete") offered="--help --yes" ;;
    "problem decisions") offered="--help --count" ;;
    "strategy list") offered="--help --kind" ;;
    "flow run") offered="--help --again" ;;
    "flow show") offered="--help" ;;
    "host list") offered="--help --tag" ;;
    "host show") offered="--help" ;;
    "host units") offered="--help --count" ;;
    "host hold") offered="--help --reason" ;;
    "host release") offered="--help" ;;
    "host tag") offered="--help" ;;
    "host revoke") offered="--help --may-return --yes" ;;
    "code add") offered="--help --hosts --once --expires --own --strangers --tag" ;;
    "code list") offered="--help" ;;
    "code show") offered="--help" ;;
    "code rotate") offered="--help" ;;
    "code withdraw") offered="--help --with-hosts --yes" ;;
    "relay allow") offered="--help --children --expires --own --strangers" ;;
    "relay quota") offered="--help" ;;
    "relay list") offered="--help" ;;
    "relay explain") offered="--help --item-bytes --result-bytes" ;;
    "token add") offered="--help --role --expires" ;;
    "token list") offered="--help" ;;
    "token withdraw") offered="--help --with-made --yes" ;;
    "ban add") offered="--help --network --host --key --code --reason --expires --force" ;;
    "ban list") offered="--help" ;;
    "ban remove") offered="--help --network --host --key --code" ;;
    "audit list") offered="--help --since --actor" ;;
    "audit verify") offered="--help --head" ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$offered" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _gleaner_admin gleaner-admin
