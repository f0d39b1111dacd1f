// Who may join, who may administer, who is kept out: join codes, admin tokens, bans.
import { useState } from "preact/hooks";
import { useActs } from "./acts";
import { change, changeWith, list, may } from "./api";
import { live } from "./live";
import type { Ban, CodeInfo as Code, MadeCode, MadeToken, TokenInfo as Token } from "./messages";
import { Ask, attempt, Card, Choice, FormDialog, Heading, Missing, rich, say, State, Table, usePolled } from "./parts";
import { QrCode } from "./qr";
import { shared, t } from "./strings";
import { t as l } from "./strings/later";
import { count, plural, time } from "./words";

type Told<T> = [T[] | undefined, string, () => void];  // as usePolled has it
const day = 86400;
const ends = (): [string, number][] => [[l.never, 0], [l.ends.day, day], [l.ends.week, 7 * day], [l.ends.month, 30 * day], [l.ends.year, 365 * day]];
const End = ({ id, chosen }: { id: string; chosen?: number }) => <select id={id} name="lifetime">{ends().map(([words, seconds]) => <option key={words} value={seconds} selected={seconds === (chosen ?? 0)}>{words}</option>)}</select>;
const field = (form: FormData, name: string): string => String(form.get(name) ?? "").trim();
const tags = (form: FormData): string[] => field(form, "tags").split(",").map(each => each.trim()).filter(Boolean);

// What a code or token outlives may not be made by a log-in alone: the maker shows an admin token once more.
const Proof = () => (
  <>
    <label for="proof">{l.proof}</label>
    <div><input id="proof" name="proof" type="password" autocomplete="off" required aria-describedby="proof-hint" /><small id="proof-hint">{l.proofHint}</small></div>
  </>
);

// A text to hand on, with a button that copies it.
function Copy({ label, text }: { label: string; text: string }) {
  const copy = () => navigator.clipboard.writeText(text).then(() => say(l.copied(label)), () => say(l.notCopied, true));
  return <p class="copy"><code tabIndex={0} aria-label={label}>{text}</code><button type="button" class="plain small" onClick={() => void copy()}>{l.copy}</button></p>;
}

function NewCode({ onMade, onClose }: { onMade: (made: MadeCode) => void; onClose: () => void }) {
  const make = async (form: FormData): Promise<boolean> => {
    const asked = { name: field(form, "name"), hosts_max: Number(field(form, "hosts") || 0), lifetime_seconds: Number(field(form, "lifetime")), own: field(form, "whose") === "own", tags: tags(form) };
    const made = await attempt(() => changeWith<MadeCode>(field(form, "proof"), "/v1/admin/codes", asked));
    if (made) onMade(made);
    return made !== undefined;
  };
  return (
    <FormDialog title={l.makeCodeTitle} yes={l.makeCodeYes} onDone={make} onClose={onClose}>
      <label for="code-name">{l.name}</label><input id="code-name" name="name" required maxLength={64} placeholder="lab-b12" />
      <label for="code-hosts">{l.hostsMax}</label>
      <div><input id="code-hosts" name="hosts" type="number" min="0" placeholder={l.anyNumber} /></div>
      <label for="code-end">{l.expires}</label><End id="code-end" chosen={30 * day} />
      <label for="code-whose">{l.forWhom}</label>
      <div>
        <select id="code-whose" name="whose" aria-describedby="code-whose-hint"><option value="strangers">{l.volunteers}</option><option value="own">{l.ownComputers}</option></select>
        <small id="code-whose-hint">{l.forWhomHint}</small>
      </div>
      <label for="code-tags">{l.tagsOfHosts}</label><input id="code-tags" name="tags" placeholder="lab, b12" />
      <Proof />
    </FormDialog>
  );
}

// What is typed on a computer: where Debian's packages are (README.md), and elsewhere, without root (deploy/portable/README.md).
type System = "packages" | "archive";
const commands = (code: string): Record<System, [string, string][]> => ({
  packages: [[l.installCommand, "sudo apt install ./gleaner-client_*.deb ./gleaner-agent_*.deb"], [l.joinCommand, `sudo gleaner-client join ${code}`]],
  archive: [
    [l.checkCommand, "gpgv --keyring ./gleaner-archive-keyring.gpg gleaner-client-*.tar.gz.asc gleaner-client-*.tar.gz"], [l.installCommand, "tar xzf gleaner-client-*.tar.gz && gleaner-client-*/install"],
    [l.joinCommand, `~/.local/bin/gleaner-client join ${code}`], [l.startCommand, "systemctl --user start gleaner-client"],
  ],
});

// The code, and how a computer joins by it.
function Made({ made, onClose }: { made: MadeCode; onClose: () => void }) {
  const [system, setSystem] = useState<System>("packages");
  const whose = made.code.own ? l.ownComputers : l.volunteers;
  const title = made.code.hosts_max > 0 ? l.codeTitleMax(made.code.name, whose, plural(made.code.hosts_max, t.nHosts)) : l.codeTitle(made.code.name, whose);
  return (
    <section class="made" aria-label={l.codeLabel(made.code.name)}>
      <div class="head"><h3>{title}</h3><button type="button" class="plain small" onClick={onClose}>{l.done}</button></div>
      <div class="handed"><Copy label={l.joinCode} text={made.join_code} /><QrCode label={l.joinCodeQr} text={made.join_code} /></div>
      <p><Choice label={l.system} of={[["packages", l.withPackages], ["archive", l.withArchive]]} now={system} onChoose={setSystem} /></p>
      <p class="calm">{l.onEachComputer[system]}</p>
      {commands(made.join_code)[system].map(([label, text]) => <Copy key={label} label={label} text={text} />)}
      <p class="calm">{rich(l.codeIsSecret)}</p>
    </section>
  );
}

function NewToken({ onMade, onClose }: { onMade: (made: MadeToken) => void; onClose: () => void }) {
  const make = async (form: FormData): Promise<boolean> => {
    const made = await attempt(() => changeWith<MadeToken>(field(form, "proof"), "/v1/admin/tokens", { name: field(form, "name"), role: field(form, "role"), lifetime_seconds: Number(field(form, "lifetime")) }));
    if (made) onMade(made);
    return made !== undefined;
  };
  return (
    <FormDialog title={l.makeTokenTitle} yes={l.makeTokenYes} onDone={make} onClose={onClose}>
      <label for="token-name">{l.name}</label><input id="token-name" name="name" required maxLength={64} placeholder="ann" />
      <label for="token-role">{l.role}</label>
      <div>
        <select id="token-role" name="role" aria-describedby="token-role-hint">{Object.entries(t.roles).map(([role, words]) => <option key={role} value={role}>{words}</option>)}</select>
        <small id="token-role-hint">{l.rolesHint}</small>
      </div>
      <label for="token-end">{l.expires}</label><End id="token-end" chosen={30 * day} />
      <Proof />
    </FormDialog>
  );
}

function Codes({ told: [codes, wrong, again] }: { told: Told<Code> }) {
  const [asking, setAsking] = useState<Code | null>(null);
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<MadeCode | null>(null);
  return (
    <Card title={l.joinCodes} wide actions={may("operator") && <button class="small" onClick={() => setMaking(true)}>{l.makeCode}</button>}>
      {making && <NewCode onMade={done => { setMade(done); again(); }} onClose={() => setMaking(false)} />}
      {made && <Made made={made} onClose={() => setMade(null)} />}
      {!codes ? <Missing wrong={wrong} /> : (
        <Table label={l.joinCodes}>
          <thead><tr><th scope="col">{l.code}</th><th scope="col">{t.state}</th><th scope="col" class="n">{t.hosts}</th><th scope="col">{l.forWhom}</th><th scope="col">{l.madeBy}</th><th scope="col">{l.expires}</th><td /></tr></thead>
          <tbody>
            {codes.map(code => (
              <tr key={code.name}>
                <th scope="row">{code.name}</th><td><State of={code.state} /></td>
                <td class="n">{count(code.hosts)}{code.hosts_max > 0 && t.ofAll(count(code.hosts_max))}</td>
                <td>{code.children ? l.relayWith(plural(code.children, t.nHosts)) : code.own ? l.ownComputers : l.volunteers}</td>
                <td>{code.made_by || "–"}</td><td>{code.expires_at ? time(code.expires_at) : l.never}</td>
                <td class="act">{code.state !== "withdrawn" && may("operator") && <button class="plain small" onClick={() => setAsking(code)}>{l.withdraw}</button>}</td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      {asking && (
        <Ask title={l.withdrawAsk(asking.name)} yes={l.withdrawYes} no={shared.back} onAnswer={sure => { const name = asking.name; setAsking(null); if (sure) void attempt(() => change(`/v1/admin/codes/${name}/withdraw`), l.withdrawnSaid(name)).then(again); }}>
          <p>{plural(asking.hosts, l.withdrawWarning)}</p>
        </Ask>
      )}
    </Card>
  );
}

function Tokens({ told: [tokens, wrong, again] }: { told: Told<Token> }) {
  const [asking, setAsking] = useState<Token | null>(null);
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<MadeToken | null>(null);
  return (
    <Card title={l.tokens} wide actions={<button class="small" onClick={() => setMaking(true)}>{l.makeToken}</button>}>
      {making && <NewToken onMade={done => { setMade(done); again(); }} onClose={() => setMaking(false)} />}
      {made && (
        <section class="made" aria-label={l.tokenLabel(made.info.name)}>
          <div class="head"><h3>{l.tokenTitle(made.info.name, t.roles[made.info.role])}</h3><button type="button" class="plain small" onClick={() => setMade(null)}>{l.done}</button></div>
          <Copy label={l.token} text={made.token} />
          <p class="calm">{rich(l.tokenOnce)}</p>
        </section>
      )}
      {!tokens ? <Missing wrong={wrong} /> : (
        <Table label={l.tokens}>
          <thead><tr><th scope="col">{l.token}</th><th scope="col">{l.role}</th><th scope="col">{t.state}</th><th scope="col">{l.made}</th><th scope="col">{l.by}</th><th scope="col">{l.expires}</th><td /></tr></thead>
          <tbody>
            {tokens.map(token => (
              <tr key={token.name}>
                <th scope="row">{token.name}</th><td>{t.roles[token.role]}</td><td><State of={token.state} /></td><td>{time(token.made_at)}</td><td>{token.made_by || "–"}</td><td>{token.expires_at ? time(token.expires_at) : l.never}</td>
                <td class="act">{token.state === "valid" && <button class="plain small" onClick={() => setAsking(token)}>{l.revoke}</button>}</td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      {asking && (
        <Ask title={l.tokenRevokeAsk(asking.name)} yes={l.tokenRevokeYes} no={shared.back} onAnswer={sure => { const name = asking.name; setAsking(null); if (sure) void attempt(() => change(`/v1/admin/tokens/${name}/withdraw`), l.tokenRevokedSaid(name)).then(again); }}>
          <p>{l.tokenRevokeWarning}</p>
        </Ask>
      )}
    </Card>
  );
}

function Bans({ told: [bans, wrong, again] }: { told: Told<Ban> }) {
  const [banning, setBanning] = useState(false);
  const add = async (form: FormData): Promise<boolean> => {
    const answer = await attempt(() => change("/v1/admin/bans", { kind: field(form, "kind"), subject: field(form, "subject"), reason: field(form, "reason"), lifetime_seconds: Number(field(form, "lifetime")) }), l.bannedSaid);
    again();
    return answer !== undefined;
  };
  const lift = (ban: Ban) => attempt(() => change(`/v1/admin/bans/${ban.kind}/remove`, { subject: ban.subject }), l.liftedSaid(ban.subject)).then(again);
  return (
    <Card title={l.bans} wide actions={may("operator") && <button class="small" onClick={() => setBanning(true)}>{l.ban}</button>}>
      {!bans ? <Missing wrong={wrong} /> : bans.length === 0 ? <p class="calm">{l.noBans}</p> : (
        <Table label={l.bans}>
          <thead><tr><th scope="col">{l.banned}</th><th scope="col">{t.reason}</th><th scope="col">{l.by}</th><th scope="col">{l.endsColumn}</th><td /></tr></thead>
          <tbody>
            {bans.map(ban => (
              <tr key={ban.kind + ban.subject}>
                <th scope="row">{l.banKinds[ban.kind] ?? ban.kind} <code>{ban.subject}</code></th><td>{ban.reason}</td><td>{ban.made_by}</td><td>{ban.expires_at ? time(ban.expires_at) : l.never}</td>
                <td class="act">{may("operator") && <button class="plain small" onClick={() => void lift(ban)}>{l.lift}</button>}</td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      {banning && (
        <FormDialog title={l.banTitle} yes={l.ban} onDone={add} onClose={() => setBanning(false)}>
          <label for="ban-kind">{l.banWhat}</label><select id="ban-kind" name="kind">{Object.entries(l.banKinds).map(([kind, words]) => <option key={kind} value={kind}>{words}</option>)}</select>
          <label for="ban-subject">{l.banWhich}</label><input id="ban-subject" name="subject" required placeholder="192.0.2.0/24" />
          <label for="ban-reason">{l.banReason}</label><input id="ban-reason" name="reason" required maxLength={200} />
          <label for="ban-end">{l.endsColumn}</label><End id="ban-end" />
        </FormDialog>
      )}
    </Card>
  );
}

export function Access() {
  const news = `${useActs()} ${live.value?.status.hosts}`;
  const codes = usePolled<Code[]>(() => list("/v1/admin/codes"), 10, [], news);
  const tokens = usePolled<Token[]>(() => (may("owner") ? list("/v1/admin/tokens") : Promise.resolve([])), 10, [], news);
  const bans = usePolled<Ban[]>(() => list("/v1/admin/bans"), 10, [], news);
  // All three at once: none moves another when it comes.
  if ([codes, tokens, bans].some(([all, wrong]) => !all && !wrong)) return <><Heading>{t.access}</Heading><Missing wrong="" /></>;
  return (
    <>
      <Heading>{t.access}</Heading>
      <div class="cards"><Codes told={codes} />{may("owner") && <Tokens told={tokens} />}<Bans told={bans} /></div>
    </>
  );
}
