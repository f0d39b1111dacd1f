// What a running kernel of a problem says, while somebody looks at it: its host is asked as long as this is shown.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, type Problem, type Problematic } from "./api";
import type { KernelOutput } from "./messages";
import { t } from "./strings";
import { t as l } from "./strings/later";
import { time } from "./words";

const askedSeconds = 2;

export function Output({ p }: { p: Problem }) {
  const [host, setHost] = useState(0);
  const [output, setOutput] = useState<KernelOutput>();
  const [wrong, setWrong] = useState("");
  const text = useRef<HTMLPreElement>(null), ended = useRef(true);  // was its end in sight?
  useEffect(() => {
    let gone = false, timer = 0, shown = host;
    const round = async () => {
      if (!document.hidden)
        try {
          const got = await ask<KernelOutput>(`/v1/admin/problems/${p.id}/output${shown ? `?host=${shown}` : ""}`);
          if (gone) return;
          shown = got.host;
          setOutput(got);
          setWrong("");
        } catch (error) {
          if (gone) return;
          if ((error as Problematic).status === 409 && !host) shown = 0;  // another host computes it, perhaps
          setWrong((error as Error).message);
        }
      if (!gone) timer = window.setTimeout(round, askedSeconds * 1000);
    };
    setOutput(undefined);
    void round();
    return () => { gone = true; clearTimeout(timer); };
  }, [p.id, host]);
  useEffect(() => { if (ended.current && text.current) text.current.scrollTop = text.current.scrollHeight; }, [output?.text]);
  const watch = () => { const at = text.current; if (at) ended.current = at.scrollHeight - at.scrollTop - at.clientHeight < 24; };
  return (
    <>
      <p><label>{t.host} <select value={host} onChange={event => setHost(Number(event.currentTarget.value))}>
        <option value={0}>{l.anyHost}</option>
        {p.shares.map(share => <option key={share.host} value={share.host}>{share.name || t.hostNumber(share.host)}</option>)}
      </select></label></p>
      {wrong ? <p class="calm" role="status">{wrong}</p>
        : !output ? <p aria-busy="true">{l.askingHost}</p>
        : output.at === 0 ? <p class="calm" role="status">{l.hostIsAsked(output.host_name || t.hostNumber(output.host))}</p>
        : <>
          <p class="calm">{l.outputOf(output.host_name || t.hostNumber(output.host), time(output.at))}</p>
          {output.text ? <pre class="output" ref={text} tabIndex={0} onScroll={watch}>{output.text}</pre> : <p class="calm">{l.saidNothing}</p>}
        </>}
    </>
  );
}
