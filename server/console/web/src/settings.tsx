// The server's settings by groups, and which of them were changed.
import { list } from "./api";
import { Find } from "./find";
import type { SettingInfo } from "./messages";
import { Card, Choice, Heading, Missing, usePolled } from "./parts";
import { query, show } from "./route";
import { t } from "./strings";
import { t as l } from "./strings/later";
import { count } from "./words";

const groupOf = (setting: SettingInfo): string => setting.name.slice(0, Math.max(0, setting.name.indexOf("."))) || "project";
// The unit stands in the name: keep_ended_days, disk_reserve_megabytes.
const units = (): [RegExp, string][] => [[/_megabytes_per_second$/, "MiB/s"], [/_megabytes$/, "MiB"], [/_seconds$/, "s"], [/_hours$/, "h"], [/_days$/, l.daysUnit], [/_requests_per_second$/, l.requestsPerSecond], [/_per_hour$/, l.perHour]];
function shown(setting: SettingInfo, value: string): string {
  const text = value === '""' || value === "" ? t.none : value === "true" ? l.yes : value === "false" ? l.no : value.replace(/^"(.*)"$/, "$1");
  const unit = /^[\d.]+$/.test(value) ? units().find(([ends]) => ends.test(setting.name))?.[1] : undefined;
  return unit ? `${/^\d+$/.test(value) ? count(Number(value)) : value} ${unit}` : text;
}
const own = (s: SettingInfo): boolean => s.name === "project.name" || s.name === "server.public_host";  // have no default that means something
const changed = (s: SettingInfo): boolean => s.default_value !== "" && s.value !== s.default_value && !own(s);

export function Settings() {
  const [settings, wrong] = usePolled<SettingInfo[]>(() => list("/v1/admin/settings"), 0, []);
  const text = query("text").toLowerCase(), only = query("changed") === "yes";
  if (!settings) return <Missing wrong={wrong} />;
  const found = settings.filter(s => (!text || `${s.name} ${s.meaning}`.toLowerCase().includes(text)) && (!only || changed(s)));
  return (
    <>
      <Heading>{t.settings}</Heading>
      <Find label={l.nameOrMeaning}>
        <Choice label={l.which} of={[["", l.allOf(settings.length)], ["yes", l.changedOf(settings.filter(changed).length)]]} now={only ? "yes" : ""} onChoose={value => show({ changed: value })} />
        <span class="calm">{l.settingsHow}</span>
      </Find>
      {found.length === 0 && <p class="calm">{l.noSetting}</p>}
      <div class="settings">
        {[...new Set(found.map(groupOf))].map(group => (
          <Card key={group} title={l.groups[group] ?? group}>
            <dl class="settings-list">
              {found.filter(s => groupOf(s) === group).map(s => (
                <div key={s.name} class={changed(s) ? "changed" : ""}>
                  <dt><code>{s.name}</code></dt>
                  <dd><b>{shown(s, s.value)}</b>{changed(s) && <small>{l.defaultIs(shown(s, s.default_value))}</small>}</dd>{s.meaning && <dd class="meaning">{s.meaning}</dd>}
                </div>
              ))}
            </dl>
          </Card>
        ))}
      </div>
    </>
  );
}
