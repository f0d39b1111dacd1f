// What a host computed and when: a row a slot, a bar a unit, coloured by what became of it.
import type { Unit } from "./api";
import { Table } from "./parts";
import { t } from "./strings";
import { t as l } from "./strings/later";
import { count, duration, plural, time } from "./words";

const rowHeight = 26, wide = 1000;

const items = (unit: Unit) => unit.range.end > unit.range.begin ? t.itemsFromTo(count(unit.range.begin), count(unit.range.end - 1)) : t.noItems;

export function Timeline({ units }: { units: Unit[] }) {
  const now = Math.max(Date.now() * 1000, ...units.map(unit => Math.max(unit.issued, unit.closed)));
  const from = Math.min(...units.map(unit => unit.issued));
  const place = (at: number) => (wide * (at - from)) / Math.max(1, now - from);
  const slots = [...new Set(units.map(unit => unit.slot))].sort((a, b) => a - b);
  const found = Object.entries(l.unitStates).filter(([state]) => units.some(unit => unit.state === state));
  const told = found.map(([state, words]) => `${units.filter(unit => unit.state === state).length} ${words}`).join(", ");
  return (
    <>
      <svg class="timeline" viewBox={`0 0 ${wide} ${slots.length * rowHeight}`} height={slots.length * rowHeight} preserveAspectRatio="none" role="img"
        aria-label={l.timelineLabel(plural(units.length, t.nUnits), plural(slots.length, t.nCores), time(from), told)}>
        {slots.map((slot, row) => {
          let free = 0;  // a unit that was handed out ahead begins when the one before has ended
          return [...units].filter(unit => unit.slot === slot).sort((a, b) => a.id - b.id).map(unit => {
            const begin = Math.max(unit.issued, free), end = Math.max(begin, unit.closed || now);
            free = Math.max(free, end);
            return (
              <rect key={unit.id} class={`unit ${unit.state}`} x={place(begin)} y={row * rowHeight + 3} height={rowHeight - 6} width={Math.max(1.5, place(end) - place(begin) - 1)}>
                <title>{l.unitLabel(unit.problem_name, items(unit), l.unitStates[unit.state] ?? unit.state, time(unit.issued))}</title>
              </rect>
            );
          });
        })}
      </svg>
      <p class="ends calm"><span>{time(from)}</span><span>{l.nowEnd}</span></p>
      <ul class="legend">{found.map(([state, words]) => <li key={state}><svg class="key" aria-hidden="true" viewBox="0 0 1 1"><rect class={`unit ${state}`} width="1" height="1" /></svg>{words}</li>)}</ul>
      <details>
        <summary>{plural(Math.min(50, units.length), l.lastUnits)}</summary>
        <Table label={t.units}>
          <thead><tr><th scope="col">{t.problem}</th><th scope="col">{t.items}</th><th scope="col" class="n">{l.delivered}</th><th scope="col">{t.state}</th><th scope="col">{l.handedOut}</th><th scope="col">{l.duration}</th><th scope="col">{t.reason}</th></tr></thead>
          <tbody>
            {units.slice(0, 50).map(unit => (
              <tr key={unit.id}>
                <th scope="row"><a href={`#/problems/${unit.problem}`}>{unit.problem_name || t.problemNumber(unit.problem)}</a></th>
                <td>{items(unit)}</td><td class="n">{count(unit.delivered)}</td><td>{l.unitStates[unit.state] ?? unit.state}</td><td>{time(unit.issued)}</td>
                <td>{duration(((unit.closed || now) - unit.issued) / 1e6)}</td><td>{unit.kind}: {unit.reason}</td>
              </tr>
            ))}
          </tbody>
        </Table>
      </details>
    </>
  );
}
