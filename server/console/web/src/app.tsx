// The console: who is logged in, which page is looked at.
import { signal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks";
import { change, confirm, may, recall, session, type Session } from "./api";
import { HostPage, Hosts } from "./hosts";
import { connected, follow, live, stop } from "./live";
import { Overview } from "./overview";
import { attempt, Heading, Missing, phone, Said, say } from "./parts";
import { ProblemPage } from "./problem";
import { Problems } from "./problems";
import { path, route } from "./route";
import { Search } from "./search";
import "uplot/dist/uPlot.min.css";
import "./style.css";

// Pages that most visits do not open are fetched when one of them is.
type Later = typeof import("./later");
const later = signal<Later | null>(null);
function Fetched({ page }: { page: keyof Later }) {
  const [wrong, setWrong] = useState(false);
  useEffect(() => { if (!later.value) import("./later").then(found => (later.value = found), () => setWrong(true)); }, []);
  const Shown = later.value?.[page];
  if (Shown) return <Shown />;
  return <><Heading>{page}</Heading><Missing wrong={wrong ? "This page could not be fetched. Reload the console." : ""} /></>;
}

const folded = "gleaner-side";  // whether the sidebar is collapsed
const started = signal(false);
const wrong = signal("");
// A link of another administrator than the one who is logged in: nobody is logged in by it unasked, since any web page can open one.
const offered = signal<{ link: string; whose: Session } | null>(null);
const linkIn = (hash: string): string | undefined => /^#link=([\w-]+)$/.exec(hash)?.[1];
// A new link may be opened where the console stands already, at its door perhaps.
addEventListener("hashchange", () => {
  if (linkIn(location.hash)) void start();
  else route.value = location.hash;
});

// Where another administrator is logged in nothing changes, unless `instead` is said.
async function logIn(by: { link?: string; token?: string; instead?: boolean }): Promise<void> {
  const opened = await change<Session & { instead_of?: string }>("/v1/console/session", by);
  if (!opened.instead_of) {
    session.value = opened;
    return;
  }
  await confirm();
  offered.value = { link: by.link!, whose: opened };
}

async function start(): Promise<void> {
  const link = linkIn(location.hash);
  if (link) {
    // The secret is used up, and is to stand in no history.
    history.replaceState(null, "", "/console#/");
    route.value = "#/";
    try { await logIn({ link }); wrong.value = ""; } catch (error) {
      wrong.value = (error as Error).message;
      if (session.value) say(wrong.value, true);
    }
  } else {
    recall();  // what is to be seen is asked for beside whether it may be
    void confirm();
  }
  started.value = true;
}

function LogIn() {
  const [token, setToken] = useState("");
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      await logIn({ token: token.trim(), instead: true });
      wrong.value = "";
    } catch (error) { wrong.value = (error as Error).message; }
  };
  return (
    <main class="login">
      <h1>Gleaner</h1>
      {wrong.value && <p role="alert" class="bad">{wrong.value}</p>}
      <p>On the computer that administers this project, <code>gleaner-admin console</code> logs you in.</p>
      <form onSubmit={submit}>
        <label for="token">Or with an admin token</label>
        <input id="token" type="password" autocomplete="off" value={token} onInput={e => setToken(e.currentTarget.value)} required />
        <button>Log in</button>
      </form>
    </main>
  );
}

function Offer({ link, whose }: { link: string; whose: Session }) {
  const stay = useRef<HTMLButtonElement>(null);
  useEffect(() => stay.current?.focus(), []);
  const now = session.value!;
  const logInInstead = async () => {
    await attempt(() => logIn({ link, instead: true }));
    offered.value = null;
  };
  return (
    <main class="login">
      <h1>Log in as {whose.name} instead?</h1>
      <p>You are logged in as <strong>{now.name}</strong> ({now.role}). A link that was just opened logs you in as <strong>{whose.name}</strong> ({whose.role}).</p>
      <p>Stay, unless you asked for this link yourself: another web page can open one.</p>
      <button ref={stay} onClick={() => (offered.value = null)}>Stay {now.name}</button>
      <button class="plain" onClick={logInInstead}>Log in as {whose.name}</button>
      <Said />
    </main>
  );
}

const everybody = () => true;
const pages: [string, string, string, () => boolean][] = [  // address, name, outline of its sign, who may see it
  ["#/", "Overview", "M2 9a6 6 0 0 1 12 0M8 9l3-3M2 12h12", everybody], ["#/problems", "Problems", "M2 3h12M2 8h12M2 13h8", everybody],
  ["#/hosts", "Hosts", "M2 3h12v8H2zM6 14h4M8 11v3", everybody], ["#/applications", "Applications", "M8 2l6 3v6l-6 3-6-3V5zM2 5l6 3 6-3M8 8v6", everybody],
  ["#/access", "Access", "M10 6a3 3 0 1 1-3-3 3 3 0 0 1 3 3M9 8l5 5M12 11l1.5-1.5", () => may("operator")],
  ["#/relays", "Relays", "M8 2v4M8 6L3 11M8 6l5 5M2 11h3v3H2zM11 11h3v3h-3z", everybody], ["#/audit", "Audit", "M4 2h8v12H4zM6 5h4M6 8h4M6 11h2", everybody],
  ["#/settings", "Settings", "M2 4h7M12 4h2M2 8h2M7 8h7M2 12h6M11 12h3M9 2v4M5 6v4M9 10v4", () => may("operator")],
  ["#/wall", "Wall", "M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4", everybody],
];

function Page() {
  const [, kind = "", which] = path().split("/");
  const id = Number(which);
  if (kind === "problems" && id > 0) return <ProblemPage id={id} />;
  if (kind === "problems") return <Problems />;
  if (kind === "hosts" && id > 0) return <HostPage id={id} />;
  if (kind === "hosts") return <Hosts />;
  if (kind === "add" && may("operator")) return <Fetched page="Add" />;
  if (kind === "applications") return <Fetched page="Applications" />;
  if (kind === "access" && may("operator")) return <Fetched page="Access" />;
  if (kind === "relays") return <Fetched page="Relays" />;
  if (kind === "audit") return <Fetched page="Audit" />;
  if (kind === "settings" && may("operator")) return <Fetched page="Settings" />;
  if (kind === "wall") return <Fetched page="Wall" />;
  return <Overview />;
}

// A page that fails says so in its own place, and leaves the others alone.
function Guarded() {
  const [error, again] = useErrorBoundary();
  if (!error) return <Page />;
  return (
    <>
      <Heading>This page failed</Heading>
      <p role="alert" class="bad">{(error as Error).message}</p>
      <p>Try again, or reload the console. If it fails again, report it with the address of this page.</p>
      <div class="buttons"><button onClick={again}>Try again</button></div>
    </>
  );
}

function Console({ who }: { who: NonNullable<typeof session.value> }) {
  const main = useRef<HTMLElement>(null);
  const [narrow, setNarrow] = useState(localStorage.getItem(folded) === "yes");
  const [open, setOpen] = useState(false);  // the menu, where there is little room
  const fold = (now: boolean) => { setNarrow(now); localStorage.setItem(folded, now ? "yes" : "no"); };
  useEffect(() => { follow(); return stop; }, [who.name]);
  useEffect(() => {
    const name = pages.find(([page]) => page !== "#/" && path().startsWith(page))?.[1] ?? (path() === "#/add" ? "Add a problem" : "Overview");
    document.title = `${name} – ${who.project}`;
    setOpen(false);
    scrollTo(0, 0);
  }, [path()]);
  const logOut = async () => {
    await attempt(() => change("/v1/console/session", {}, "DELETE"));
    stop();
    location.hash = "#/";  // whoever logs in next begins at the beginning
    session.value = null;
    live.value = null;
  };
  const chosen = (page: string) => page === "#/" ? ["", "#/"].includes(path()) : path().startsWith(page) || (page === "#/problems" && path() === "#/add");
  const wall = path() === "#/wall";
  return (
    <div class={["frame", narrow ? "narrow" : "", wall ? "bare" : "", open ? "open" : ""].join(" ").trim()}>
      <a class="skip" href="#content" onClick={e => { e.preventDefault(); main.current?.focus(); }}>Skip to the content</a>
      <header>
        <div class="top">
          <button class="plain menu" aria-expanded={open} aria-controls="side" aria-label="Menu" onClick={() => setOpen(!open)}>☰</button>
          <span class="project" title={who.project}>{who.project}</span>
          <span class={connected.value ? "dot on" : "dot"} title={connected.value ? "live" : "connecting"} aria-hidden="true" />
        </div>
        <div id="side" class="side">
          <Search onWanted={() => { if (narrow) fold(false); if (phone.value) setOpen(true); }} />
          <nav aria-label="Pages">
            {pages.filter(([, , , allowed]) => allowed()).map(([page, name, sign]) => (
              <a key={page} href={page} title={narrow ? name : undefined} aria-current={chosen(page) ? "page" : undefined}><svg viewBox="0 0 16 16" aria-hidden="true"><path d={sign} /></svg><span>{name}</span></a>
            ))}
          </nav>
          <div class="who"><span>{connected.value ? "live" : "connecting"}, {who.name} ({who.role})</span>
            <button class="plain small" onClick={logOut}>Log out</button>
            <button class="plain small fold" aria-pressed={narrow} onClick={() => fold(!narrow)}>{narrow ? "»" : "« Collapse"}</button>
          </div>
        </div>
      </header>
      <main ref={main} id="content" tabIndex={-1}><Guarded key={path()} /></main>
      <Said />
    </div>
  );
}

const App = () => (!started.value ? null : !session.value ? <LogIn /> : offered.value ? <Offer {...offered.value} /> : <Console who={session.value} />);

render(<App />, document.getElementById("app")!);
void start();
