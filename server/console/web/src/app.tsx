// The console: who is logged in, which page is looked at.
import { signal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks";
import { Add } from "./add";
import { change, confirm, may, recall, session, type Session } from "./api";
import { HostPage, Hosts } from "./hosts";
import { connected, follow, live, stop } from "./live";
import { Applications, Audit, maySeeSettings, Settings, Wall } from "./more";
import { Overview } from "./overview";
import { attempt, Heading, Said, say } from "./parts";
import { ProblemPage } from "./problem";
import "uplot/dist/uPlot.min.css";
import "./style.css";

const route = signal(location.hash);
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

const pages: [string, string, () => boolean][] = [
  ["#/", "Overview", () => true], ["#/hosts", "Hosts", () => true], ["#/add", "Add a problem", () => may("operator")],
  ["#/applications", "Applications", () => true], ["#/audit", "Audit", () => true], ["#/settings", "Settings", maySeeSettings],
  ["#/wall", "Wall", () => true],
];

function Page() {
  const [, kind = "", which] = route.value.split("/");
  const id = Number(which);
  if (kind === "problems" && id > 0) return <ProblemPage key={id} id={id} />;
  if (kind === "hosts" && id > 0) return <HostPage key={id} id={id} />;
  if (kind === "hosts") return <Hosts />;
  if (kind === "add" && may("operator")) return <Add />;
  if (kind === "applications") return <Applications />;
  if (kind === "audit") return <Audit />;
  if (kind === "settings" && maySeeSettings()) return <Settings />;
  if (kind === "wall") return <Wall />;
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
  useEffect(() => { follow(); return stop; }, [who.name]);
  useEffect(() => {
    const name = pages.find(([path]) => path === route.value)?.[1] ?? "Gleaner";
    document.title = `${name} – ${who.project}`;
    scrollTo(0, 0);
  }, [route.value]);
  const logOut = async () => {
    await attempt(() => change("/v1/console/session", {}, "DELETE"));
    stop();
    location.hash = "#/";  // whoever logs in next begins at the beginning
    session.value = null;
    live.value = null;
  };
  const chosen = (path: string) => (path === "#/" ? ["", "#/"].includes(route.value) || route.value.startsWith("#/problems") : route.value.startsWith(path));
  return (
    <>
      <a class="skip" href="#content" onClick={e => { e.preventDefault(); main.current?.focus(); }}>Skip to the content</a>
      <header>
        <span class="project">{who.project}</span>
        <nav aria-label="Pages">
          {pages.filter(([, , allowed]) => allowed()).map(([path, name]) => <a key={path} href={path} aria-current={chosen(path) ? "page" : undefined}>{name}</a>)}
        </nav>
        <span class="who"><span class={connected.value ? "dot on" : "dot"} aria-hidden="true" />{connected.value ? "live" : "connecting"}, {who.name} ({who.role})</span>
        <button class="plain" onClick={logOut}>Log out</button>
      </header>
      <main ref={main} id="content" tabIndex={-1}><Guarded key={route.value} /></main>
      <Said />
    </>
  );
}

const App = () => (!started.value ? null : !session.value ? <LogIn /> : offered.value ? <Offer {...offered.value} /> : <Console who={session.value} />);

render(<App />, document.getElementById("app")!);
void start();
