// Who may join, who may administer, who is kept out: join codes, admin tokens, bans.
import { useState } from "preact/hooks";
import { change, list, may } from "./api";
import type { Ban, CodeInfo as Code, TokenInfo as Token } from "./messages";
import { Ask, attempt, Card, Heading, Missing, State, Table, usePolled } from "./parts";
import { count, time } from "./words";

const day = 86400;
const ends: [string, number][] = [["never", 0], ["in a day", day], ["in 7 days", 7 * day], ["in 30 days", 30 * day], ["in a year", 365 * day]];
const End = () => <select name="lifetime" aria-label="Expires">{ends.map(([words, seconds]) => <option key={words} value={seconds}>{words}</option>)}</select>;
const field = (form: FormData, name: string): string => String(form.get(name) ?? "").trim();

function Codes() {
  const [codes, wrong, again] = usePolled<Code[]>(() => list("/v1/admin/codes"), 10, []);
  const [asking, setAsking] = useState<Code | null>(null);
  return (
    <Card title="Join codes" wide>
      {!codes ? <Missing wrong={wrong} /> : (
        <Table label="Join codes">
          <thead><tr><th scope="col">Code</th><th scope="col">State</th><th scope="col" class="n">Hosts</th><th scope="col">For</th><th scope="col">Made by</th><th scope="col">Expires</th><td /></tr></thead>
          <tbody>
            {codes.map(code => (
              <tr key={code.name}>
                <th scope="row">{code.name}</th><td><State of={code.state} /></td>
                <td class="n">{count(code.hosts)}{code.hosts_max > 0 && ` of ${count(code.hosts_max)}`}</td>
                <td>{code.children ? `a relay with ${count(code.children)} hosts` : code.own ? "own computers, trusted without checks" : "strangers, whose results are checked"}</td>
                <td>{code.made_by || "–"}</td><td>{code.expires_at ? time(code.expires_at) : "never"}</td>
                <td>{code.state !== "withdrawn" && may("operator") && <button class="plain small" onClick={() => setAsking(code)}>Withdraw</button>}</td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      <p class="calm">Make a code with <code>gleaner-admin code add NAME --hosts 20 --expires 30d</code>, for your own computers with <code>--own</code>. A log-in makes none, since codes outlive it.</p>
      {asking && (
        <Ask title={`Withdraw the code ${asking.name}?`} yes="Withdraw code" onAnswer={sure => { const name = asking.name; setAsking(null); if (sure) void attempt(() => change(`/v1/admin/codes/${name}/withdraw`), `Code ${name} withdrawn.`).then(again); }}>
          <p>No computer can join by it any more. The {count(asking.hosts)} that did so stay.</p>
        </Ask>
      )}
    </Card>
  );
}

function Tokens() {
  const [tokens, wrong, again] = usePolled<Token[]>(() => list("/v1/admin/tokens"), 10, []);
  const [asking, setAsking] = useState<Token | null>(null);
  return (
    <Card title="Admin tokens" wide>
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
      <p class="calm">Make a token with <code>gleaner-admin token add NAME --role viewer</code>. A log-in makes none, since tokens outlive it.</p>
      {asking && (
        <Ask title={`Revoke the token of ${asking.name}?`} yes="Revoke token" onAnswer={sure => { const name = asking.name; setAsking(null); if (sure) void attempt(() => change(`/v1/admin/tokens/${name}/withdraw`), `Token ${name} revoked.`).then(again); }}>
          <p>It stops working at once, and its sessions end.</p>
        </Ask>
      )}
    </Card>
  );
}

function Bans() {
  const [bans, wrong, again] = usePolled<Ban[]>(() => list("/v1/admin/bans"), 10, []);
  const add = async (event: Event) => {
    event.preventDefault();
    const node = event.target as HTMLFormElement;
    const form = new FormData(node);
    const answer = await attempt(() => change("/v1/admin/bans", { kind: field(form, "kind"), subject: field(form, "subject"), reason: field(form, "reason"), lifetime_seconds: Number(field(form, "lifetime")) }), "Banned.");
    if (answer) { node.reset(); again(); }
  };
  const lift = (ban: Ban) => attempt(() => change(`/v1/admin/bans/${ban.kind}/remove`, { subject: ban.subject }), `The ban of ${ban.subject} is lifted.`).then(again);
  return (
    <Card title="Bans" wide>
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
      {may("operator") && (
        <form class="filter" onSubmit={add}>
          <label>What <select name="kind"><option value="network">network</option><option value="key">host key</option><option value="code">join code</option></select></label>
          <label>Which <input name="subject" required placeholder="192.0.2.0/24" /></label>
          <label>Reason, shown to them <input name="reason" required maxLength={200} /></label>
          <label>Ends <End /></label>
          <button>Ban</button>
        </form>
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
