// The messages of the admin API and of the console. Written by gleaner-wire from shared/protocol/fields_*.h.
export interface SignedStatement {
  type: StatementType; payload: string; key: string; signature: string; proof?: string; context?: string;
}
export type StatementType = "work-key-certificate" | "signer-certificate" | "project" | "application" | "grant" | "acknowledgement" | "revocations" | "blob-address" | "put-addresses" | "relay-certificate" | "relay-grant" | "delivery" | "enrolment" | "failure";
export interface Range {
  begin: number; end: number;
}
export interface HostSpeeds {
  all_cores_mflops: number; memory_bytes_per_second: number; download_bytes_per_second: number; upload_bytes_per_second: number;
}
export interface ItemBytes {
  down: number; up: number;
}
export interface Readings {
  cpu?: number; memory?: number; celsius?: number;
}
export interface ServerStatus {
  project: string; name: string; server_version: string; join_code: string; started_at: number; now: number; hosts: number;
  hosts_active: number; problems_open: number; open_units: number; work_certificate_expires: number; warnings: string[];
  stored?: string; hosts_on_hold: number;
}
export interface OverviewSample {
  at: number; hosts_active: number; cores_busy: number; items_per_second: number; core_hours: number;
}
export interface DayInfo {
  at: number; core_hours: number; kilowatt_hours: number; items: number;
}
export interface ErrorGroup {
  problem: number; problem_name: string; application: string; kind: string; words: string; message: string; times: number;
  hosts: number; first_at: number; last_at: number; by: FailingHost[];
}
export interface FailingHost {
  host: number; name: string; times: number;
}
export interface LiveView {
  status: ServerStatus; problems: ProblemInfo[]; problems_total: number; errors: ErrorGroup[]; sample: OverviewSample;
}
export interface ProblemInfo {
  id: number; name: string; application: string; state: ProblemState; message: string; strategy: string; straggler: string;
  weight: number; priority: number; validation: string; stage: number; stage_name: string; items: number; accepted: number;
  free: number; handed_out: number; cost: number; cost_accepted: number; rate: number; eta_seconds: number;
  eta_low_seconds: number; eta_high_seconds: number; waits: string; needs: string; done: number; units: number;
  open_units: number; splits: number; recovered: number; duplicates: number; wasted_cost: number; wasted: number;
  disagreements: number; hosts: number; created_at: number; started_at: number; finished_at: number; elapsed_seconds: number;
  shares: HostShare[]; shares_total: number; results: ResultFile[]; set_aside: SetAside[]; errors: ErrorGroup[]; flow: string;
  parameters: string; inputs: Input[];
}
export type ProblemState = "planning" | "running" | "paused" | "combining" | "finished" | "cancelled" | "failed" | "stopped";
export interface HostShare {
  host: number; name: string; requests: number; units: number; items: number; cost: number; wasted_cost: number; rate: number;
  busy_seconds: number; splits: number; duplicates: number; last_contact_seconds: number;
}
export interface ResultFile {
  name: string; digest: string; bytes: number; media_type: string;
}
export interface SetAside {
  unit: number; range: Range; message: string;
}
export interface Input {
  name: string; digest: string; bytes: number; range?: Range;
}
export interface SettingInfo {
  name: string; value: string; meaning: string; default_value: string;
}
export interface ConsoleLink {
  secret: string; expires_at: number;
}
export interface SessionInfo {
  name: string; role: Role; guard: string; project: string; instead_of: string;
}
export type Role = "viewer" | "operator" | "owner";
export interface OpenSession {
  link: string; token: string; instead: boolean;
}
export interface ApplicationInfo {
  name: string; application_version: string; title: string; archive: string; archive_bytes: number; platforms: string[];
  signer: string; added_at: number; parameters: ParameterInfo[]; inputs: InputInfo[]; signer_expires: number; needs: string[];
}
export interface ParameterInfo {
  name: string; type: string; meaning: string; default_value: string; required: boolean; low?: number; high?: number;
  length: number; choices: string[];
}
export interface InputInfo {
  name: string; meaning: string; required: boolean;
}
export interface AddApplication {
  application: SignedStatement; signer: SignedStatement;
}
export interface AddProblem {
  application: string; name: string; parameters: string; inputs: Input[]; strategy: string; straggler: string; weight: number;
  priority: number; commit_seconds: number; validation: string;
}
export interface AppendInputs {
  inputs: Input[];
}
export interface ChangeStrategy {
  strategy: string; straggler: string; weight?: number; priority?: number;
}
export interface ProblemEstimate {
  application: string; items: number; cost: number; hosts: number; cores: number; share: number; tried: number;
  same_parameters: boolean; core_seconds: number; core_low_seconds: number; core_high_seconds: number; eta_seconds: number;
  eta_low_seconds: number; eta_high_seconds: number; waits: string;
}
export interface ChangeApplication {
  application: string;
}
export interface Preview {
  id: number; stage: number; stage_name: string; items: number; accepted: number; files: ResultFile[];
}
export interface StrategyInfo {
  name: string; kind: string; summary: string; source: string; options: string[];
}
export interface DecisionInfo {
  at: number; host: number; unit: number; kind: string; range: Range; reason: string;
}
export interface KernelOutput {
  host: number; host_name: string; unit: number; text: string; at: number;
}
export interface ProblemHosts {
  needs: string[]; platforms: string[]; memory_bytes: number; cores: number; hosts: number; suited: number;
  unsuited: UnsuitedHosts[];
}
export interface UnsuitedHosts {
  kind: string; value: string; text: string; hosts: number; examples: number[]; names: string[];
}
export interface FlowInfo {
  name: string; nodes: FlowStep[];
}
export interface FlowStep {
  name: string; application: string; after: FlowLink[]; problem: number; state: string; done: number; message: string;
}
export interface FlowLink {
  node: string; results: string[];
}
export interface ItemMap {
  id: number; stage: number; stage_name: string; items: number; items_per_cell: number; accepted: number[]; held: number[];
  set_aside: number[]; holders: number[];
}
export interface ProblemSample {
  at: number; stage: number; done: number; rate: number; eta_seconds: number; eta_low_seconds: number; eta_high_seconds: number;
}
export interface HostInfo {
  id: number; name: string; state: HostState; platform: string; cores: number; memory_bytes: number; client_version: string;
  mflops: number; speeds?: HostSpeeds; items_accepted: number; cost_accepted: number; failures: number; disagreements: number;
  enrolled_at: number; last_contact: number; open_units: number; state_reason: string; code: string; tags: string[];
  on_hold: string; trust: number; relay?: number; item?: ItemBytes; cores_lent?: number; memory_lent?: number;
  readings?: Readings; capabilities: string[]; cpu_day: number[];
}
export type HostState = "active" | "revoked" | "left";
export interface RevokeHost {
  may_return: boolean;
}
export interface HoldHost {
  reason: string;
}
export interface TagHost {
  tags: string[];
}
export interface UnitInfo {
  id: number; problem: number; problem_name: string; stage: number; slot: number; kind: string; state: string; range: Range;
  delivered: number; running_seconds: number; issued: number; closed: number; reason: string;
}
export interface TablePage {
  columns: string[]; rows: number; failed: number; chosen: number; first: number; page: TableRow[];
}
export interface TableRow {
  values: string[];
}
export interface HostPage {
  hosts: HostInfo[]; next: number; total: number; now: number; cost_accepted: number;
}
export interface CodeInfo {
  name: string; state: string; hosts: number; hosts_max: number; own?: boolean; tags: string[]; made_at: number;
  expires_at: number; withdrawn_at: number; children?: number; made_by: string;
}
export interface AddCode {
  name: string; hosts_max: number; lifetime_seconds: number; own?: boolean; tags: string[];
}
export interface MadeCode {
  code: CodeInfo; join_code: string;
}
export interface WithdrawCode {
  with_hosts: boolean;
}
export interface RelayInfo {
  name: string; state: string; children: number; hosts: number; host?: number; relay?: number; last_contact: number;
  trouble?: string;
}
export interface AddRelay {
  name: string; children: number; lifetime_seconds: number; own?: boolean;
}
export interface RelayLimit {
  relay: string; limit: string; sentence: string; items_per_second?: number; computing_items_per_second?: number;
  work_seconds?: number; left_out: string[]; never_measured: string[];
}
export interface RelayQuota {
  children: number;
}
export interface RelayStatus {
  host: number; name: string; parent: string; heard_at: number; hosts: number; units: number; busy: number; trouble: string;
  leases: number; leased_items: number; results: number; result_bytes: number; results_since: number; full: boolean;
}
export interface TokenInfo {
  name: string; role: Role; state: string; made_at: number; expires_at: number; withdrawn_at: number; made_by: string;
}
export interface AddToken {
  name: string; role: Role; lifetime_seconds: number;
}
export interface MadeToken {
  info: TokenInfo; token: string;
}
export interface WithdrawToken {
  with_made: boolean;
}
export interface Ban {
  kind: BanKind; subject: string; reason: string; made_by: string; made_at: number; expires_at: number;
}
export type BanKind = "code" | "key" | "network";
export interface AddBan {
  kind: BanKind; subject: string; reason: string; lifetime_seconds: number; force: boolean;
}
export interface RemoveBan {
  subject: string;
}
export interface AuditPage {
  start: ChainPlace; head: ChainPlace; noted?: ChainPlace; acts: Act[]; refusals: RefusalCount[];
}
export interface ChainPlace {
  number: number; digest: string;
}
export interface Act {
  number: number; at: number; actor: string; role: string; action: string; object: string; summary: string; previous: string;
}
export interface RefusalCount {
  actor: string; kind: string; action: string; times: number; first_at: number; last_at: number; last_network: string;
}
