// A flow as a graph: its nodes are problems, or what is to become one; its links are results that the next node needs.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { ask } from "./api";
import { draw, type Place } from "./flowlayout";
import { problemNews, whyOf } from "./live";
import type { FlowInfo, FlowStep } from "./messages";
import { Bar, Card, Crumbs, Heading, Missing, State, Table, usePolled } from "./parts";
import { shared, t } from "./strings";
import { t as l } from "./strings/later";
import { count, percent, plural } from "./words";

const box = { width: 168, height: 52, across: 56, between: 14 };
const rim = 3;  // for the outlines
const lettersMax = 20;
const lost = ["failed", "cancelled", "stopped", "refused", "blocked"];

const short = (text: string) => (text.length > lettersMax ? `${text.slice(0, lettersMax - 1)}…` : text);
const state = (node: FlowStep) => `${shared.states[node.state] ?? node.state}${node.state === "running" ? ` ${percent(Math.max(0, node.done))}` : ""}`;
const curve = (points: Place[]) => points.map(({ x, y }, i) => {
  if (i === 0) return `M${x} ${y}`;
  const middle = (points[i - 1].x + x) / 2;
  return `C${middle} ${points[i - 1].y} ${middle} ${y} ${x} ${y}`;
}).join("");

const useFlow = (name: string) => usePolled<FlowInfo>(() => ask(`/v1/admin/flows/${name}`), 2, [name], problemNews());

// `here`: the problem whose page it is on.
export function Graph({ flow, here }: { flow: FlowInfo; here?: number }) {
  const place = useRef<HTMLDivElement>(null);
  const shape = JSON.stringify(flow.nodes.map(node => [node.name, node.after]));
  const drawn = useMemo(() => draw(flow.nodes, box), [shape]);
  const { width, height } = drawn;
  const now = flow.nodes.findIndex(node => here !== undefined && node.problem === here);
  useEffect(() => {
    const at = drawn.nodes[now], window = place.current;
    if (at && window) window.scrollTo(at.x - window.clientWidth / 2, at.y - window.clientHeight / 2);
  }, [drawn, now]);
  return (
    <div class="graph" ref={place} tabIndex={0} role="group" aria-label={l.graphLabel(flow.name, plural(flow.nodes.length, l.nNodes))}>
      <svg width={width + 2 * rim} height={height + 2 * rim} viewBox={`${-rim} ${-rim} ${width + 2 * rim} ${height + 2 * rim}`}>
        {drawn.links.map(({ from, to, points }) => {
          const results = flow.nodes[to].after.find(each => each.node === flow.nodes[from].name)?.results ?? [];
          const kind = lost.includes(flow.nodes[from].state) ? "lost" : flow.nodes[from].state === "finished" ? "ready" : "";
          return <path key={`${from} ${to}`} class={`way ${kind}`} d={curve(points)}><title>{results.join(", ") || l.finishedFirst}</title></path>;
        })}
        {flow.nodes.map((node, i) => <Node key={node.name} node={node} at={drawn.nodes[i]} here={i === now} />)}
      </svg>
    </div>
  );
}

function Node({ node, at, here }: { node: FlowStep; at: Place; here: boolean }) {
  const left = at.x - box.width / 2, top = at.y - box.height / 2;
  const part = node.state === "finished" ? 1 : Math.max(0, node.done);
  const inside = (
    <>
      <title>{[node.name, node.application, state(node), node.message].filter(Boolean).join("\n")}</title>
      <rect x={left} y={top} width={box.width} height={box.height} rx={7} />
      <text x={left + 11} y={top + 20} class="name">{short(node.name)}</text>
      <text x={left + 11} y={top + 37} class="what">{state(node)}</text>
      {node.problem > 0 && <path class="track" d={`M${left + 11} ${top + 45}h${box.width - 22}`} />}
      {part > 0 && <path class="part" d={`M${left + 11} ${top + 45}h${(box.width - 22) * part}`} />}
    </>
  );
  const kind = `node ${node.state}${here ? " here" : ""}`;
  return node.problem > 0 ? <a class={kind} href={`#/problems/${node.problem}`} aria-current={here ? "true" : undefined}>{inside}</a> : <g class={kind}>{inside}</g>;
}

// On the page of a problem that belongs to it.
export function FlowCard({ name, flow, wrong, here }: { name: string; flow?: FlowInfo | null; wrong: string; here: number }) {
  return (
    <Card title={l.flowNamed(name)} wide actions={<a href={`#/flows/${name}`}>{l.allNodes}</a>}>
      {flow ? <Graph flow={flow} here={here} /> : <Missing wrong={wrong} />}
    </Card>
  );
}

export function FlowPage({ name }: { name: string }) {
  const [flow, wrong] = useFlow(name);
  if (!flow) return <><Heading>{l.flowNamed(name)}</Heading><Missing wrong={wrong} /></>;
  const finished = flow.nodes.filter(node => node.state === "finished").length;
  return (
    <>
      <Crumbs to="#/problems" name={t.problems} here={l.flowNamed(name)} />
      <div class="pagehead"><Heading>{flow.name}</Heading></div>
      <Card title={l.graph} wide actions={<span class="calm" role="status">{l.nodesFinished(count(finished), count(flow.nodes.length))}</span>}><Graph flow={flow} /></Card>
      <Card title={l.nodes} wide>
        <Table label={l.nodes}>
          <thead><tr><th scope="col">{l.node}</th><th scope="col">{t.state}</th><th scope="col">{t.done}</th><th scope="col">{l.needs}</th><th scope="col">{t.reason}</th></tr></thead>
          <tbody>
            {flow.nodes.map(node => (
              <tr key={node.name}>
                <th scope="row">{node.problem > 0 ? <a href={`#/problems/${node.problem}`}>{node.name}</a> : node.name}</th>
                <td><State of={node.state} /></td>
                <td>{node.problem > 0 && <Bar part={node.state === "finished" ? 1 : Math.max(0, node.done)} label={t.doneOf(node.name)} />}</td>
                <td>{node.after.map(each => (each.results?.length ? each.results.map(result => `${each.node}/${result}`).join(", ") : each.node)).join(", ") || "–"}</td>
                <td>{reason(flow, node)}</td>
              </tr>
            ))}
          </tbody>
        </Table>
      </Card>
    </>
  );
}

// Why it failed, or which nodes it waits for.
function reason(flow: FlowInfo, node: FlowStep): string {
  if (node.message) return whyOf({ ...node, id: node.problem });
  if (node.problem > 0) return "";
  const missing = node.after.map(each => flow.nodes.find(one => one.name === each.node)).filter(each => each !== undefined && each.state !== "finished");
  const blocking = missing.filter(each => lost.includes(each!.state));
  const names = (nodes: typeof missing) => nodes.map(each => each!.name).join(", ");
  return blocking.length ? l.cannotBegin(names(blocking)) : missing.length ? l.waitsFor(names(missing)) : "";
}
