// Who may join, who may administer, who is kept out: join codes, admin tokens, bans.
import { useState } from "preact/hooks";
import { change, list, may } from "./api";
import { Ask, attempt, Card, Heading, Missing, State, Table, usePolled } from "./parts";
import { count, time } from "./words";

interface Code { name: string; state: string; hosts: number; hosts_max: number; own?: boolean; children?: number; made_at: number; expires_at: number; tags?: string[] }
interface Token { name: string; role: string; state: string; made_at: number; expires_at: number }
interface Ban { kind: string; subject: string; reason: string; made_by: string; made_at: number; expires_at: number }

const day = 86400;
const ends: [string, number][] = [["never", 0], ["in a day", day], ["in 7 days", 7 * day], ["in 30 days", 30 * day], ["in a year", 365 * day]];
const End = ({ name = "lifetime" }: { name?: string }) => <select name={name} aria-label="Expires">{ends.map(([words, seconds]) => <option key={words} value={seconds}>{words}</option>)}</select>;
const field = (form: FormData, name: string): string => String(form.get(name) ?? "").trim();

// A secret that the server keeps no copy of.
function Secret({ title, text, note, close }: { title: string; text: string; note: string; close: () => void }) {
  const copy = () => void attempt(() => navigator.clipboard.writeText(text), "Copied.");
  return (
    <section class="attention" aria-label={title}>
      <h3>{title}</h3>
      <p><code>{text}</code></p>
      <p>{note}</p>
      <div class="buttons"><button onClick={copy}>Copy</button><button class="plain" onClick={close}>Done</button></div>
    </section>
  );
}

function Codes() {
  const [codes, wrong, again] = usePolled<Code[]>(() => list("/v1/admin/codes"), 10, []);
  const [made, setMade] = useState<{ name: string; text: string } | null>(null);
  const [asking, setAsking] = useState<Code | null>(null);
  const add = async (event: Event) => {
    event.preventDefault();
    const node = event.target as HTMLFormElement;
    const form = new FormData(node);
    const answer = await attempt(() => change<{ join_code: string }>("/v1/admin/codes", {
      name: field(form, "name"), hosts_max: Number(field(form, "hosts")), lifetime_seconds: Number(field(form, "lifetime")), own: field(form, "own") === "own" }));
    if (!answer) return;
    setMade({ name: field(form, "name"), text: answer.join_code });
    node.reset();
    again();
  };
  return (
    <Card title="Join codes" wide>
      {made && <Secret title={`Join code ${made.name}`} text={made.text} note="On each computer: gleaner-client join, then this code." close={() => setMade(null)} />}
      {!codes ? <Missing wrong={wrong} /> : (
        <Table label="Join codes">
          <thead><tr><th scope="col">Code</th><th scope="col">State</th><th scope="col" class="n">Hosts</th><th scope="col">For</th><th scope="col">Expires</th><th /></tr></thead>
          <tbody>
            {codes.map(code => (
              <tr key={code.name}>
                <th scope="row">{code.name}</th><td><State of={code.state} /></td>
                <td class="n">{count(code.hosts)}{code.hosts_max > 0 && ` of ${count(code.hosts_max)}`}</td>
                <td>{code.children ? `a relay with ${count(code.children)} hosts` : code.own ? "own computers, trusted without checks" : "strangers, whose results are checked"}</td>
                <td>{code.expires_at ? time(code.expires_at) : "never"}</td>
                <td>{code.state !== "withdrawn" && may("operator") && <button class="plain small" onClick={() => setAsking(code)}>Withdraw</button>}</td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      {may("operator") && (
        <form class="filter" onSubmit={add}>
          <label>Name <input name="name" required maxLength={64} pattern="[A-Za-z0-9._\-]+" title="letters, digits, dots, dashes and underscores" /></label>
          <label>Hosts, at most <input name="hosts" type="number" min="0" max="1000000" defaultValue="0" title="0: any number" /></label>
          <label>For <select name="own"><option value="strangers">strangers</option><option value="own">own computers</option></select></label>
          <label>Expires <End /></label>
          <button>Make a code</button>
        </form>
      )}
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
  const [made, setMade] = useState<{ name: string; text: string } | null>(null);
  const [asking, setAsking] = useState<Token | null>(null);
  const add = async (event: Event) => {
    event.preventDefault();
    const node = event.target as HTMLFormElement;
    const form = new FormData(node);
    const answer = await attempt(() => change<{ token: string }>("/v1/admin/tokens", { name: field(form, "name"), role: field(form, "role"), lifetime_seconds: Number(field(form, "lifetime")) }));
    if (!answer) return;
    setMade({ name: field(form, "name"), text: answer.token });
    node.reset();
    again();
  };
  return (
    <Card title="Admin tokens" wide>
      {made && <Secret title={`Token of ${made.name}`} text={made.text} note="This token is shown only once. Save it in a file with mode 0600 and pass it with --token-file." close={() => setMade(null)} />}
      {!tokens ? <Missing wrong={wrong} /> : (
        <Table label="Admin tokens">
          <thead><tr><th scope="col">Token</th><th scope="col">Role</th><th scope="col">State</th><th scope="col">Made</th><th scope="col">Expires</th><th /></tr></thead>
          <tbody>
            {tokens.map(token => (
              <tr key={token.name}>
                <th scope="row">{token.name}</th><td>{token.role}</td><td><State of={token.state} /></td><td>{time(token.made_at)}</td><td>{token.expires_at ? time(token.expires_at) : "never"}</td>
                <td>{token.state === "valid" && <button class="plain small" onClick={() => setAsking(token)}>Revoke</button>}</td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      <form class="filter" onSubmit={add}>
        <label>Name <input name="name" required maxLength={64} pattern="[A-Za-z0-9._\-]+" title="letters, digits, dots, dashes and underscores" /></label>
        <label>Role <select name="role"><option>viewer</option><option>operator</option><option>owner</option></select></label>
        <label>Expires <End /></label>
        <button>Make a token</button>
      </form>
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
          <thead><tr><th scope="col">Banned</th><th scope="col">Reason</th><th scope="col">By</th><th scope="col">Ends</th><th /></tr></thead>
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
