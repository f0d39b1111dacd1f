// Who may join, who may administer, who is kept out: join codes, admin tokens, bans.
import { useState } from "preact/hooks";
import { change, changeWith, list, may } from "./api";
import type { Ban, CodeInfo as Code, MadeCode, MadeToken, TokenInfo as Token } from "./messages";
import { Ask, attempt, Card, FormDialog, Heading, Missing, say, State, Table, usePolled } from "./parts";
import { count, plural, time } from "./words";

const day = 86400;
const ends: [string, number][] = [["never", 0], ["in a day", day], ["in 7 days", 7 * day], ["in 30 days", 30 * day], ["in a year", 365 * day]];
const End = ({ id, chosen }: { id: string; chosen?: number }) => <select id={id} name="lifetime">{ends.map(([words, seconds]) => <option key={words} value={seconds} selected={seconds === (chosen ?? 0)}>{words}</option>)}</select>;
const field = (form: FormData, name: string): string => String(form.get(name) ?? "").trim();
const tags = (form: FormData): string[] => field(form, "tags").split(",").map(each => each.trim()).filter(Boolean);

// What a code or token outlives may not be made by a log-in alone: the maker shows an admin token once more.
const Proof = () => (
  <>
    <label for="proof">Your admin token</label>
    <div><input id="proof" name="proof" type="password" autocomplete="off" required aria-describedby="proof-hint" /><small id="proof-hint">what is made here outlives your log-in, so the log-in is not enough</small></div>
  </>
);

// A text to hand on, with a button that copies it.
function Copy({ label, text }: { label: string; text: string }) {
  const copy = () => navigator.clipboard.writeText(text).then(() => say(`${label} copied.`), () => say("The browser did not copy it: select the text.", true));
  return <p class="copy"><code tabIndex={0} aria-label={label}>{text}</code><button type="button" class="plain small" onClick={() => void copy()}>Copy</button></p>;
}

function NewCode({ onMade, onClose }: { onMade: (made: MadeCode) => void; onClose: () => void }) {
  const make = async (form: FormData): Promise<boolean> => {
    const asked = { name: field(form, "name"), hosts_max: Number(field(form, "hosts") || 0), lifetime_seconds: Number(field(form, "lifetime")), own: field(form, "whose") === "own", tags: tags(form) };
    const made = await attempt(() => changeWith<MadeCode>(field(form, "proof"), "/v1/admin/codes", asked));
    if (made) onMade(made);
    return made !== undefined;
  };
  return (
    <FormDialog title="Make a join code" yes="Make code" onDone={make} onClose={onClose}>
      <label for="code-name">Name</label><input id="code-name" name="name" required maxLength={64} placeholder="lab-b12" />
      <label for="code-hosts">Hosts, at most</label>
      <div><input id="code-hosts" name="hosts" type="number" min="0" placeholder="any number" /></div>
      <label for="code-end">Expires</label><End id="code-end" chosen={30 * day} />
      <label for="code-whose">For</label>
      <div>
        <select id="code-whose" name="whose" aria-describedby="code-whose-hint"><option value="strangers">volunteers</option><option value="own">own computers</option></select>
        <small id="code-whose-hint">results of volunteers' computers are checked; own computers are trusted without checks</small>
      </div>
      <label for="code-tags">Tags of its hosts</label><input id="code-tags" name="tags" placeholder="lab, b12" />
      <Proof />
    </FormDialog>
  );
}

// The code, and what is typed on each computer.
function Made({ made, onClose }: { made: MadeCode; onClose: () => void }) {
  return (
    <section class="made" aria-label={`Join code ${made.code.name}`}>
      <div class="head"><h3>Join code {made.code.name}: {made.code.own ? "own computers" : "volunteers"}{made.code.hosts_max > 0 && `, ${plural(made.code.hosts_max, "host")} at most`}</h3><button type="button" class="plain small" onClick={onClose}>Done</button></div>
      <Copy label="Join code" text={made.join_code} />
      <p class="calm">On each computer (Debian 12), with the packages from this project:</p>
      <Copy label="Install command" text="sudo apt install ./gleaner-client_*.deb ./gleaner-agent_*.deb" />
      <Copy label="Join command" text={`sudo gleaner-client join ${made.join_code}`} />
      <p class="calm">The code is a secret. It is not shown again; <code>gleaner-admin code</code> can rotate it.</p>
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
    <FormDialog title="Make an admin token" yes="Make token" onDone={make} onClose={onClose}>
      <label for="token-name">Name</label><input id="token-name" name="name" required maxLength={64} placeholder="ann" />
      <label for="token-role">Role</label>
      <div>
        <select id="token-role" name="role" aria-describedby="token-role-hint"><option>viewer</option><option>operator</option><option>owner</option></select>
        <small id="token-role-hint">viewers look; operators run problems and hosts; owners also make tokens and keys</small>
      </div>
      <label for="token-end">Expires</label><End id="token-end" chosen={30 * day} />
      <Proof />
    </FormDialog>
  );
}

function Codes() {
  const [codes, wrong, again] = usePolled<Code[]>(() => list("/v1/admin/codes"), 10, []);
  const [asking, setAsking] = useState<Code | null>(null);
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<MadeCode | null>(null);
  return (
    <Card title="Join codes" wide actions={may("operator") && <button class="small" onClick={() => setMaking(true)}>Make a code</button>}>
      {making && <NewCode onMade={done => { setMade(done); again(); }} onClose={() => setMaking(false)} />}
      {made && <Made made={made} onClose={() => setMade(null)} />}
      {!codes ? <Missing wrong={wrong} /> : (
        <Table label="Join codes">
          <thead><tr><th scope="col">Code</th><th scope="col">State</th><th scope="col" class="n">Hosts</th><th scope="col">For</th><th scope="col">Made by</th><th scope="col">Expires</th><td /></tr></thead>
          <tbody>
            {codes.map(code => (
              <tr key={code.name}>
                <th scope="row">{code.name}</th><td><State of={code.state} /></td>
                <td class="n">{count(code.hosts)}{code.hosts_max > 0 && ` of ${count(code.hosts_max)}`}</td>
                <td>{code.children ? `a relay with ${plural(code.children, "host")}` : code.own ? "own computers" : "volunteers"}</td>
                <td>{code.made_by || "–"}</td><td>{code.expires_at ? time(code.expires_at) : "never"}</td>
                <td>{code.state !== "withdrawn" && may("operator") && <button class="plain small" onClick={() => setAsking(code)}>Withdraw</button>}</td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      {asking && (
        <Ask title={`Withdraw the code ${asking.name}?`} yes="Withdraw code" no="Back" onAnswer={sure => { const name = asking.name; setAsking(null); if (sure) void attempt(() => change(`/v1/admin/codes/${name}/withdraw`), `Code ${name} withdrawn.`).then(again); }}>
          <p>No computer can join with it any more. {plural(asking.hosts, "host")} that joined with it {asking.hosts === 1 ? "stays" : "stay"}.</p>
        </Ask>
      )}
    </Card>
  );
}

function Tokens() {
  const [tokens, wrong, again] = usePolled<Token[]>(() => list("/v1/admin/tokens"), 10, []);
  const [asking, setAsking] = useState<Token | null>(null);
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<MadeToken | null>(null);
  return (
    <Card title="Admin tokens" wide actions={<button class="small" onClick={() => setMaking(true)}>Make a token</button>}>
      {making && <NewToken onMade={done => { setMade(done); again(); }} onClose={() => setMaking(false)} />}
      {made && (
        <section class="made" aria-label={`Token ${made.info.name}`}>
          <div class="head"><h3>Token of {made.info.name}, {made.info.role}</h3><button type="button" class="plain small" onClick={() => setMade(null)}>Done</button></div>
          <Copy label="Token" text={made.token} />
          <p class="calm">It is shown only once. Save it in a file with mode 0600 and pass it with <code>--token-file</code>.</p>
        </section>
      )}
      {!tokens ? <Missing wrong={wrong} /> : (
        <Table label="Admin tokens">
          <thead><tr><th scope="col">Token</th><th scope="col">Role</th><th scope="col">State</th><th scope="col">Made</th><th scope="col">By</th><th scope="col">Expires</th><td /></tr></thead>
          <tbody>
            {tokens.map(token => (
              <tr key={token.name}>
                <th scope="row">{token.name}</th><td>{token.role}</td><td><State of={token.state} /></td><td>{time(token.made_at)}</td><td>{token.made_by || "–"}</td><td>{token.expires_at ? time(token.expires_at) : "never"}</td>
                <td>{token.state === "valid" && <button class="plain small" onClick={() => setAsking(token)}>Revoke</button>}</td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      {asking && (
        <Ask title={`Revoke the token of ${asking.name}?`} yes="Revoke token" no="Back" onAnswer={sure => { const name = asking.name; setAsking(null); if (sure) void attempt(() => change(`/v1/admin/tokens/${name}/withdraw`), `Token ${name} revoked.`).then(again); }}>
          <p>It stops working at once, and its sessions end.</p>
        </Ask>
      )}
    </Card>
  );
}

function Bans() {
  const [bans, wrong, again] = usePolled<Ban[]>(() => list("/v1/admin/bans"), 10, []);
  const [banning, setBanning] = useState(false);
  const add = async (form: FormData): Promise<boolean> => {
    const answer = await attempt(() => change("/v1/admin/bans", { kind: field(form, "kind"), subject: field(form, "subject"), reason: field(form, "reason"), lifetime_seconds: Number(field(form, "lifetime")) }), "Banned.");
    again();
    return answer !== undefined;
  };
  const lift = (ban: Ban) => attempt(() => change(`/v1/admin/bans/${ban.kind}/remove`, { subject: ban.subject }), `The ban of ${ban.subject} is lifted.`).then(again);
  return (
    <Card title="Bans" wide actions={may("operator") && <button class="small" onClick={() => setBanning(true)}>Ban</button>}>
      {!bans ? <Missing wrong={wrong} /> : bans.length === 0 ? <p class="calm">No active bans.</p> : (
        <Table label="Bans">
          <thead><tr><th scope="col">Banned</th><th scope="col">Reason</th><th scope="col">By</th><th scope="col">Ends</th><td /></tr></thead>
          <tbody>
            {bans.map(ban => (
              <tr key={ban.kind + ban.subject}>
                <th scope="row">{ban.kind} <code>{ban.subject}</code></th><td>{ban.reason}</td><td>{ban.made_by}</td><td>{ban.expires_at ? time(ban.expires_at) : "never"}</td>
                <td>{may("operator") && <button class="plain small" onClick={() => void lift(ban)}>Lift</button>}</td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      {banning && (
        <FormDialog title="Ban from the project" yes="Ban" onDone={add} onClose={() => setBanning(false)}>
          <label for="ban-kind">What</label><select id="ban-kind" name="kind"><option value="network">network</option><option value="key">host key</option><option value="code">join code</option></select>
          <label for="ban-subject">Which</label><input id="ban-subject" name="subject" required placeholder="192.0.2.0/24" />
          <label for="ban-reason">Reason, shown to them</label><input id="ban-reason" name="reason" required maxLength={200} />
          <label for="ban-end">Ends</label><End id="ban-end" />
        </FormDialog>
      )}
    </Card>
  );
}

export function Access() {
  return (
    <>
      <Heading>Access</Heading>
      <div class="cards"><Codes />{may("owner") && <Tokens />}<Bans /></div>
    </>
  );
}
