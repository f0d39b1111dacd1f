// Who may join, who may administer, who is kept out: join codes, admin tokens, bans.
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { useActs } from "./acts";
import { change, changeWith, list, may } from "./api";
import { Find } from "./find";
import { live } from "./live";
import type { Ban, CodeInfo as Code, MadeCode, MadeToken, TokenInfo as Token } from "./messages";
import { Ask, attempt, Card, Choice, FormDialog, Heading, Missing, rich, say, State, usePolled } from "./parts";
import { QrCode } from "./qr";
import { query } from "./route";
import { Rows, type Column } from "./rows";
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

// A table of this page: one field filters all, each has its order in the address.
function List<T>({ label, sortIn, columns, rows, id, brief }: { label: string; sortIn: string; columns: Column<T>[]; rows: T[]; id: (row: T) => string; brief: (row: T) => ComponentChildren }) {
  const text = query("text").toLowerCase();
  const found = rows.filter(row => !text || JSON.stringify(row).toLowerCase().includes(text));
  const steady = useMemo(() => columns, []);
  if (found.length === 0) return <p class="calm">{l.nothingMatches}</p>;
  return <div class="table-rows"><Rows label={label} sortIn={sortIn} columns={steady} rows={found} id={id} brief={brief} /></div>;
}

const endOf = (of: { expires_at: number }): string => (of.expires_at ? time(of.expires_at) : l.never);
const endOrder = (of: { expires_at: number }): number => of.expires_at || Infinity;
const hostsOf = (code: Code): string => `${count(code.hosts)}${code.hosts_max > 0 ? t.ofAll(count(code.hosts_max)) : ""}`;
const whoseIs = (code: Code): string => (code.children ? l.relayWith(plural(code.children, t.nHosts)) : code.own ? l.ownComputers : l.volunteers);
const kindOf = (ban: Ban): string => l.banKinds[ban.kind] ?? ban.kind;
const Withdraw = ({ code, ask }: { code: Code; ask: (code: Code) => void }) => code.state !== "withdrawn" && may("operator") ? <button class="plain small" onClick={() => ask(code)}>{l.withdraw}</button> : null;
const Revoke = ({ token, ask }: { token: Token; ask: (token: Token) => void }) => token.state === "valid" ? <button class="plain small" onClick={() => ask(token)}>{l.revoke}</button> : null;
const Lift = ({ ban, lift }: { ban: Ban; lift: (ban: Ban) => void }) => may("operator") ? <button class="plain small" onClick={() => lift(ban)}>{l.lift}</button> : null;

const codeColumns = (ask: (code: Code) => void): Column<Code>[] => [
  { id: "name", name: l.code, width: "1.4fr", order: code => code.name, cell: code => <span title={code.name}>{code.name}</span> },
  { id: "state", name: t.state, width: "8rem", order: code => code.state, cell: code => <State of={code.state} /> },
  { id: "whose", name: l.forWhom, width: "1.2fr", order: whoseIs, cell: whoseIs },
  { id: "by", name: l.madeBy, width: "1fr", order: code => code.made_by, cell: code => code.made_by || "–" },
  { id: "hosts", name: t.hosts, width: "7rem", order: code => code.hosts, cell: hostsOf, number: true },
  { id: "ends", name: l.expires, width: "10rem", order: endOrder, cell: endOf, number: true },
  { id: "act", name: "", width: "7.5rem", cell: code => <Withdraw code={code} ask={ask} />, number: true },
];
const tokenColumns = (ask: (token: Token) => void): Column<Token>[] => [
  { id: "name", name: l.token, width: "1.4fr", order: token => token.name, cell: token => <span title={token.name}>{token.name}</span> },
  { id: "role", name: l.role, width: "1fr", order: token => token.role, cell: token => t.roles[token.role] },
  { id: "state", name: t.state, width: "8rem", order: token => token.state, cell: token => <State of={token.state} /> },
  { id: "made", name: l.made, width: "10rem", order: token => token.made_at, cell: token => time(token.made_at) },
  { id: "by", name: l.by, width: "1fr", order: token => token.made_by, cell: token => token.made_by || "–" },
  { id: "ends", name: l.expires, width: "10rem", order: endOrder, cell: endOf, number: true },
  { id: "act", name: "", width: "7.5rem", cell: token => <Revoke token={token} ask={ask} />, number: true },
];
const banColumns = (lift: (ban: Ban) => void): Column<Ban>[] => [
  { id: "what", name: l.banned, width: "2fr", order: ban => `${kindOf(ban)} ${ban.subject}`, cell: ban => <span title={ban.subject}>{kindOf(ban)} <code>{ban.subject}</code></span> },
  { id: "why", name: t.reason, width: "2fr", order: ban => ban.reason, cell: ban => <span title={ban.reason}>{ban.reason}</span> },
  { id: "by", name: l.by, width: "1fr", order: ban => ban.made_by, cell: ban => ban.made_by },
  { id: "ends", name: l.endsColumn, width: "10rem", order: endOrder, cell: endOf, number: true },
  { id: "act", name: "", width: "7.5rem", cell: ban => <Lift ban={ban} lift={lift} />, number: true },
];

function Codes({ told: [codes, wrong, again] }: { told: Told<Code> }) {
  const [asking, setAsking] = useState<Code | null>(null);
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<MadeCode | null>(null);
  return (
    <Card title={l.joinCodes} wide actions={may("operator") && <button class="small" onClick={() => setMaking(true)}>{l.makeCode}</button>}>
      {making && <NewCode onMade={done => { setMade(done); again(); }} onClose={() => setMaking(false)} />}
      {made && <Made made={made} onClose={() => setMade(null)} />}
      {!codes ? <Missing wrong={wrong} /> : <List label={l.joinCodes} sortIn="codes" columns={codeColumns(setAsking)} rows={codes} id={code => code.name}
        brief={code => <><span><span>{code.name}</span><State of={code.state} /></span><span><small>{hostsOf(code)}, {whoseIs(code)}</small><Withdraw code={code} ask={setAsking} /></span></>} />}
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
      {!tokens ? <Missing wrong={wrong} /> : <List label={l.tokens} sortIn="tokens" columns={tokenColumns(setAsking)} rows={tokens} id={token => token.name}
        brief={token => <><span><span>{token.name}</span><State of={token.state} /></span><span><small>{t.roles[token.role]}, {endOf(token)}</small><Revoke token={token} ask={setAsking} /></span></>} />}
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
  const lift = (ban: Ban) => void attempt(() => change(`/v1/admin/bans/${ban.kind}/remove`, { subject: ban.subject }), l.liftedSaid(ban.subject)).then(again);
  return (
    <Card title={l.bans} wide actions={may("operator") && <button class="small" onClick={() => setBanning(true)}>{l.ban}</button>}>
      {!bans ? <Missing wrong={wrong} /> : bans.length === 0 ? <p class="calm">{l.noBans}</p> : <List label={l.bans} sortIn="bans" columns={banColumns(lift)} rows={bans} id={ban => ban.kind + ban.subject}
        brief={ban => <><span><span>{kindOf(ban)} <code>{ban.subject}</code></span><Lift ban={ban} lift={lift} /></span><span><small>{ban.reason}</small><small>{endOf(ban)}</small></span></>} />}
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
      <Find label={l.accessFilter} />
      <div class="cards"><Codes told={codes} />{may("owner") && <Tokens told={tokens} />}<Bans told={bans} /></div>
    </>
  );
}
