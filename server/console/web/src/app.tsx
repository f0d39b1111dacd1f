// The console: who is logged in, which page is looked at.
import { signal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks";
import { change, confirm, may, recall, session, type Session } from "./api";
import { Fetched, Further } from "./fetched";
import { connected, follow, live, stop } from "./live";
import { Overview } from "./overview";
import { attempt, Heading, phone, rich, Said, say } from "./parts";
import { ProblemPage } from "./problem";
import { Problems } from "./problems";
import { path, route } from "./route";
import { Search } from "./search";
import { choose, language, languages, t, translate, type Language } from "./strings";
import "uplot/dist/uPlot.min.css";
import "./style.css";

// A page that most visits do not open.
type Rare = "Access" | "Add" | "Applications" | "Audit" | "HostPage" | "Hosts" | "Relays" | "Settings" | "Wall";
const Rare = ({ page, name, id = 0 }: { page: Rare; name: string; id?: number }) => <Fetched name={name} of={later => { const Shown = later[page]; return <Shown id={id} />; }} />;

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

function Languages() {
  return (
    <select class="small" aria-label={t.language} value={language} onChange={event => choose(event.currentTarget.value as Language)}>
      {Object.entries(languages).map(([name, words]) => <option key={name} value={name} lang={name}>{words}</option>)}
    </select>
  );
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
      <p>{rich(t.logInHow)}</p>
      <form onSubmit={submit}>
        <label for="token">{t.logInToken}</label>
        <input id="token" type="password" autocomplete="off" value={token} onInput={e => setToken(e.currentTarget.value)} required />
        <button>{t.logIn}</button>
      </form>
      <Languages />
    </main>
  );
}

const named = (who: Session) => <><strong>{who.name}</strong> ({t.roles[who.role]})</>;
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
      <h1>{t.logInInstead(whose.name)}</h1>
      <p>{rich(t.logInNow, { now: named(now), other: named(whose) })}</p>
      <p>{t.logInWarning}</p>
      <button ref={stay} onClick={() => (offered.value = null)}>{t.stay(now.name)}</button>
      <button class="plain" onClick={logInInstead}>{t.logInAs(whose.name)}</button>
      <Said />
    </main>
  );
}

const everybody = () => true;
const pages = (): [string, string, string, () => boolean][] => [  // address, name, outline of its sign, who may see it
  ["#/", t.overview, "M2 9a6 6 0 0 1 12 0M8 9l3-3M2 12h12", everybody], ["#/problems", t.problems, "M2 3h12M2 8h12M2 13h8", everybody],
  ["#/hosts", t.hosts, "M2 3h12v8H2zM6 14h4M8 11v3", everybody], ["#/applications", t.applications, "M8 2l6 3v6l-6 3-6-3V5zM2 5l6 3 6-3M8 8v6", everybody],
  ["#/access", t.access, "M10 6a3 3 0 1 1-3-3 3 3 0 0 1 3 3M9 8l5 5M12 11l1.5-1.5", () => may("operator")],
  ["#/relays", t.relays, "M8 2v4M8 6L3 11M8 6l5 5M2 11h3v3H2zM11 11h3v3h-3z", everybody], ["#/audit", t.audit, "M4 2h8v12H4zM6 5h4M6 8h4M6 11h2", everybody],
  ["#/settings", t.settings, "M2 4h7M12 4h2M2 8h2M7 8h7M2 12h6M11 12h3M9 2v4M5 6v4M9 10v4", () => may("operator")],
  ["#/wall", t.wall, "M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4", everybody],
];

function Page() {
  const [, kind = "", which] = path().split("/");
  const id = Number(which);
  if (kind === "problems" && id > 0) return <ProblemPage id={id} />;
  if (kind === "problems") return <Problems />;
  if (kind === "flows" && which) return <Further name={which} of={({ FlowPage }) => <FlowPage name={decodeURIComponent(which)} />} />;
  if (kind === "hosts" && id > 0) return <Rare page="HostPage" name={`${t.host} ${id}`} id={id} />;
  if (kind === "hosts") return <Rare page="Hosts" name={t.hosts} />;
  if (kind === "add" && may("operator")) return <Rare page="Add" name={t.add} />;
  if (kind === "applications") return <Rare page="Applications" name={t.applications} />;
  if (kind === "access" && may("operator")) return <Rare page="Access" name={t.access} />;
  if (kind === "relays") return <Rare page="Relays" name={t.relays} />;
  if (kind === "audit") return <Rare page="Audit" name={t.audit} />;
  if (kind === "settings" && may("operator")) return <Rare page="Settings" name={t.settings} />;
  if (kind === "wall") return <Rare page="Wall" name={t.wall} />;
  return <Overview />;
}

// A page that fails says so in its own place, and leaves the others alone.
function Guarded() {
  const [error, again] = useErrorBoundary();
  if (!error) return <Page />;
  return (
    <>
      <Heading>{t.pageFailed}</Heading>
      <p role="alert" class="bad">{(error as Error).message}</p>
      <p>{t.pageFailedAdvice}</p>
      <div class="buttons"><button onClick={again}>{t.tryAgain}</button></div>
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
    const name = pages().find(([page]) => page !== "#/" && path().startsWith(page))?.[1] ?? (path() === "#/add" ? t.add : t.overview);
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
      <a class="skip" href="#content" onClick={e => { e.preventDefault(); main.current?.focus(); }}>{t.skip}</a>
      <header>
        <div class="top">
          <button class="plain menu" aria-expanded={open} aria-controls="side" aria-label={t.menu} onClick={() => setOpen(!open)}>☰</button>
          <span class="project" title={who.project}>{who.project}</span>
          <span class={connected.value ? "dot on" : "dot"} title={connected.value ? t.live : t.connecting} aria-hidden="true" />
        </div>
        <div id="side" class="side">
          <Search onWanted={() => { if (narrow) fold(false); if (phone.value) setOpen(true); }} />
          <nav aria-label={t.pages}>
            {pages().filter(([, , , allowed]) => allowed()).map(([page, name, sign]) => (
              <a key={page} href={page} title={narrow ? name : undefined} aria-current={chosen(page) ? "page" : undefined}><svg viewBox="0 0 16 16" aria-hidden="true"><path d={sign} /></svg><span>{name}</span></a>
            ))}
          </nav>
          <div class="who"><span>{connected.value ? t.live : t.connecting}, {who.name} ({t.roles[who.role]})</span>
            <button class="plain small" onClick={logOut}>{t.logOut}</button>
            <Languages />
            <button class="plain small fold" aria-pressed={narrow} onClick={() => fold(!narrow)}>{narrow ? "»" : t.collapse}</button>
          </div>
        </div>
      </header>
      <main ref={main} id="content" tabIndex={-1}><Guarded key={path()} /></main>
      <Said />
    </div>
  );
}

const App = () => (!started.value ? null : !session.value ? <LogIn /> : offered.value ? <Offer {...offered.value} /> : <Console who={session.value} />);

const show = () => { render(<App />, document.getElementById("app")!); void start(); };
translate().then(show, show);  // a language that cannot be fetched leaves English
