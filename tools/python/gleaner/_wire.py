"""The messages and operations of the admin API. Written by gleaner-wire from shared/protocol/fields_*.h."""
from __future__ import annotations

from typing import Dict, List, Literal, Tuple, TypedDict

ProblemState = Literal["planning", "running", "paused", "combining", "finished", "cancelled", "failed", "stopped"]
StatementType = Literal[
    "work-key-certificate",
    "signer-certificate",
    "project",
    "application",
    "grant",
    "acknowledgement",
    "revocations",
    "blob-address",
    "put-addresses",
    "relay-certificate",
    "relay-grant",
    "delivery",
    "enrolment",
    "failure",
]
HostState = Literal["active", "revoked", "left"]
Role = Literal["viewer", "operator", "owner"]
BanKind = Literal["code", "key", "network"]


class UploadState(TypedDict):
    """upload state"""
    digest: str
    offset: int
    complete: bool


class ServerStatusAlways(TypedDict):
    project: str
    name: str
    server_version: str
    join_code: str
    started_at: int
    now: int
    hosts: int
    hosts_active: int
    problems_open: int
    open_units: int
    work_certificate_expires: int
    warnings: List[str]
    hosts_on_hold: int


class ServerStatus(ServerStatusAlways, total=False):
    """server status"""
    stored: str


class OverviewSampleList(TypedDict):
    """history"""
    items: List[OverviewSample]


class OverviewSample(TypedDict):
    """the whole project at a moment"""
    at: int
    hosts_active: int
    cores_busy: int
    items_per_second: float
    core_hours: float


class DayInfoList(TypedDict):
    """list of days"""
    items: List[DayInfo]


class DayInfo(TypedDict):
    """contribution of hosts on a day (UTC)"""
    at: int
    core_hours: float
    kilowatt_hours: float
    items: int


class ErrorGroupList(TypedDict):
    """list of errors"""
    items: List[ErrorGroup]


class ErrorGroup(TypedDict):
    """failures of a problem with the same last words"""
    problem: int
    problem_name: str
    application: str
    kind: str
    words: str
    message: str
    times: int
    hosts: int
    first_at: int
    last_at: int
    by: List[FailingHost]


class FailingHost(TypedDict):
    """failing host"""
    host: int
    name: str
    times: int


class LiveView(TypedDict):
    """data of one event"""
    status: ServerStatus
    problems: List[ProblemInfo]
    problems_total: int
    errors: List[ErrorGroup]
    sample: OverviewSample


class ProblemInfo(TypedDict):
    """problem"""
    id: int
    name: str
    application: str
    state: ProblemState
    message: str
    strategy: str
    straggler: str
    weight: float
    priority: int
    validation: str
    stage: int
    stage_name: str
    items: int
    accepted: int
    free: int
    handed_out: int
    cost: float
    cost_accepted: float
    rate: float
    eta_seconds: float
    eta_low_seconds: float
    eta_high_seconds: float
    waits: str
    needs: str
    done: float
    units: int
    open_units: int
    splits: int
    recovered: int
    duplicates: int
    wasted_cost: float
    wasted: float
    disagreements: int
    hosts: int
    created_at: int
    started_at: int
    finished_at: int
    elapsed_seconds: float
    shares: List[HostShare]
    shares_total: int
    results: List[ResultFile]
    set_aside: List[SetAside]
    errors: List[ErrorGroup]
    flow: str
    parameters: str
    inputs: List[Input]


class HostShare(TypedDict):
    """host share"""
    host: int
    name: str
    requests: int
    units: int
    items: int
    cost: float
    wasted_cost: float
    rate: float
    busy_seconds: float
    splits: int
    duplicates: int
    last_contact_seconds: float


class ResultFile(TypedDict):
    """result file"""
    name: str
    digest: str
    bytes: int
    media_type: str


class SetAside(TypedDict):
    """quarantined range"""
    unit: int
    range: Range
    message: str


class Range(TypedDict):
    begin: int
    end: int


class InputAlways(TypedDict):
    name: str
    digest: str
    bytes: int


class Input(InputAlways, total=False):
    """input"""
    range: Range


class SettingInfoList(TypedDict):
    """list of settings"""
    items: List[SettingInfo]


class SettingInfo(TypedDict):
    """setting"""
    name: str
    value: str
    meaning: str
    default_value: str


class ConsoleLink(TypedDict):
    """console link"""
    secret: str
    expires_at: int


class ApplicationInfoList(TypedDict):
    """list of applications"""
    items: List[ApplicationInfo]


class ApplicationInfo(TypedDict):
    """application"""
    name: str
    application_version: str
    title: str
    archive: str
    archive_bytes: int
    platforms: List[str]
    signer: str
    added_at: int
    parameters: List[ParameterInfo]
    inputs: List[InputInfo]
    signer_expires: int
    needs: List[str]


class ParameterInfoAlways(TypedDict):
    name: str
    type: str
    meaning: str
    default_value: str
    required: bool
    length: int
    choices: List[str]


class ParameterInfo(ParameterInfoAlways, total=False):
    """parameter"""
    low: float
    high: float


class InputInfo(TypedDict):
    """input of an application"""
    name: str
    meaning: str
    required: bool


class AddApplication(TypedDict):
    """new application"""
    application: SignedStatement
    signer: SignedStatement


class SignedStatementAlways(TypedDict):
    type: StatementType
    payload: str
    key: str
    signature: str


class SignedStatement(SignedStatementAlways, total=False):
    """signed statement"""
    proof: str
    context: str


class ProblemInfoList(TypedDict):
    """list of problems"""
    items: List[ProblemInfo]


class AddProblem(TypedDict):
    """new problem"""
    application: str
    name: str
    parameters: str
    inputs: List[Input]
    strategy: str
    straggler: str
    weight: float
    priority: int
    commit_seconds: int
    validation: str


class AppendInputs(TypedDict):
    """appended inputs"""
    inputs: List[Input]


class ChangeStrategyAlways(TypedDict):
    strategy: str
    straggler: str


class ChangeStrategy(ChangeStrategyAlways, total=False):
    """new strategies of a running problem"""
    weight: float
    priority: int


class ProblemEstimate(TypedDict):
    """cost and finish time of a problem"""
    application: str
    items: int
    cost: float
    hosts: int
    cores: int
    share: float
    tried: int
    same_parameters: bool
    core_seconds: float
    core_low_seconds: float
    core_high_seconds: float
    eta_seconds: float
    eta_low_seconds: float
    eta_high_seconds: float
    waits: str


class ChangeApplication(TypedDict):
    """change of application"""
    application: str


class Preview(TypedDict):
    """files made of the accepted items"""
    id: int
    stage: int
    stage_name: str
    items: int
    accepted: int
    files: List[ResultFile]


class StrategyInfoList(TypedDict):
    """list of strategies"""
    items: List[StrategyInfo]


class StrategyInfo(TypedDict):
    """strategy"""
    name: str
    kind: str
    summary: str
    source: str
    options: List[str]


class DecisionInfoList(TypedDict):
    """list of decisions"""
    items: List[DecisionInfo]


class DecisionInfo(TypedDict):
    """decision"""
    at: int
    host: int
    unit: int
    kind: str
    range: Range
    reason: str


class KernelOutput(TypedDict):
    """the last 64 KiB that a running kernel wrote to standard error and logged"""
    host: int
    host_name: str
    unit: int
    text: str
    at: int


class ProblemHosts(TypedDict):
    """needs of a problem, and the online hosts that can compute it"""
    needs: List[str]
    platforms: List[str]
    memory_bytes: int
    cores: int
    hosts: int
    suited: int
    unsuited: List[UnsuitedHosts]


class UnsuitedHosts(TypedDict):
    """hosts that cannot compute a problem"""
    kind: str
    value: str
    text: str
    hosts: int
    examples: List[int]
    names: List[str]


class FlowInfo(TypedDict):
    """problems of which some need others' results; a new plan says no problem, state and done"""
    name: str
    nodes: List[FlowStep]


class FlowStep(TypedDict):
    """node of a flow"""
    name: str
    application: str
    after: List[FlowLink]
    problem: int
    state: str
    done: float
    message: str


class FlowLink(TypedDict):
    """link of a flow"""
    node: str
    results: List[str]


class ItemMap(TypedDict):
    """state of a stage's items, in cells of equal size"""
    id: int
    stage: int
    stage_name: str
    items: int
    items_per_cell: int
    accepted: List[int]
    held: List[int]
    set_aside: List[int]
    holders: List[int]


class ProblemSampleList(TypedDict):
    """history of a problem"""
    items: List[ProblemSample]


class ProblemSample(TypedDict):
    """a problem at a moment"""
    at: int
    stage: int
    done: float
    rate: float
    eta_seconds: float
    eta_low_seconds: float
    eta_high_seconds: float


class HostInfoList(TypedDict):
    """list of hosts"""
    items: List[HostInfo]


class HostInfoAlways(TypedDict):
    id: int
    name: str
    state: HostState
    platform: str
    cores: int
    memory_bytes: int
    client_version: str
    mflops: float
    items_accepted: int
    cost_accepted: float
    failures: int
    disagreements: int
    enrolled_at: int
    last_contact: int
    open_units: int
    state_reason: str
    code: str
    tags: List[str]
    on_hold: str
    trust: float
    capabilities: List[str]
    cpu_day: List[int]


class HostInfo(HostInfoAlways, total=False):
    """host"""
    speeds: HostSpeeds
    relay: int
    item: ItemBytes
    cores_lent: float
    memory_lent: int
    readings: Readings


class HostSpeeds(TypedDict):
    """other measurements of a host"""
    all_cores_mflops: float
    memory_bytes_per_second: float
    download_bytes_per_second: float
    upload_bytes_per_second: float


class ItemBytes(TypedDict):
    """bytes of an item, averaged over the latest that passed a relay"""
    down: float
    up: float


class Readings(TypedDict, total=False):
    """of the whole computer, kernels and other programs together; absent ones are unknown"""
    cpu: float
    memory: float
    celsius: float


class RevokeHost(TypedDict):
    """revocation of a host"""
    may_return: bool


class HoldHost(TypedDict):
    """hold of a host"""
    reason: str


class TagHost(TypedDict):
    """tags of a host"""
    tags: List[str]


class UnitInfoList(TypedDict):
    """list of units"""
    items: List[UnitInfo]


class UnitInfo(TypedDict):
    """unit of a host"""
    id: int
    problem: int
    problem_name: str
    stage: int
    slot: int
    kind: str
    state: str
    range: Range
    delivered: int
    running_seconds: float
    issued: int
    closed: int
    reason: str


class TablePage(TypedDict):
    """page of a table"""
    columns: List[str]
    rows: int
    failed: int
    chosen: int
    first: int
    page: List[TableRow]


class TableRow(TypedDict):
    """row of a table"""
    values: List[str]


class HostPage(TypedDict):
    """page of hosts"""
    hosts: List[HostInfo]
    next: int
    total: int
    now: int
    cost_accepted: float


class CodeInfoList(TypedDict):
    """list of enrolment codes"""
    items: List[CodeInfo]


class CodeInfoAlways(TypedDict):
    name: str
    state: str
    hosts: int
    hosts_max: int
    tags: List[str]
    made_at: int
    expires_at: int
    withdrawn_at: int
    made_by: str


class CodeInfo(CodeInfoAlways, total=False):
    """enrolment code"""
    own: bool
    children: int


class AddCodeAlways(TypedDict):
    name: str
    hosts_max: int
    lifetime_seconds: int
    tags: List[str]


class AddCode(AddCodeAlways, total=False):
    """new enrolment code"""
    own: bool


class MadeCode(TypedDict):
    """join code"""
    code: CodeInfo
    join_code: str


class WithdrawCode(TypedDict):
    """withdrawal of an enrolment code"""
    with_hosts: bool


class RelayInfoList(TypedDict):
    """list of relays"""
    items: List[RelayInfo]


class RelayInfoAlways(TypedDict):
    name: str
    state: str
    children: int
    hosts: int
    last_contact: int


class RelayInfo(RelayInfoAlways, total=False):
    """relay of the project"""
    host: int
    relay: int
    trouble: str


class AddRelayAlways(TypedDict):
    name: str
    children: int
    lifetime_seconds: int


class AddRelay(AddRelayAlways, total=False):
    """new relay"""
    own: bool


class RelayLimitAlways(TypedDict):
    relay: str
    limit: str
    sentence: str
    left_out: List[str]
    never_measured: List[str]


class RelayLimit(RelayLimitAlways, total=False):
    """bottleneck of a relay"""
    items_per_second: float
    computing_items_per_second: float
    work_seconds: float


class RelayQuota(TypedDict):
    """quota of a relay"""
    children: int


class RelayStatus(TypedDict):
    """status of a relay"""
    host: int
    name: str
    parent: str
    heard_at: int
    hosts: int
    units: int
    busy: int
    trouble: str
    leases: int
    leased_items: int
    results: int
    result_bytes: int
    results_since: int
    full: bool


class TokenInfoList(TypedDict):
    """list of admin tokens"""
    items: List[TokenInfo]


class TokenInfo(TypedDict):
    """admin token"""
    name: str
    role: Role
    state: str
    made_at: int
    expires_at: int
    withdrawn_at: int
    made_by: str


class AddToken(TypedDict):
    """new admin token"""
    name: str
    role: Role
    lifetime_seconds: int


class MadeToken(TypedDict):
    """made admin token"""
    info: TokenInfo
    token: str


class WithdrawToken(TypedDict):
    """withdrawal of an admin token"""
    with_made: bool


class BanList(TypedDict):
    """list of bans"""
    items: List[Ban]


class Ban(TypedDict):
    """ban"""
    kind: BanKind
    subject: str
    reason: str
    made_by: str
    made_at: int
    expires_at: int


class AddBan(TypedDict):
    """new ban"""
    kind: BanKind
    subject: str
    reason: str
    lifetime_seconds: int
    force: bool


class RemoveBan(TypedDict):
    """ban to be removed"""
    subject: str


class AuditPageAlways(TypedDict):
    start: ChainPlace
    head: ChainPlace
    acts: List[Act]
    refusals: List[RefusalCount]


class AuditPage(AuditPageAlways, total=False):
    """page of the audit log"""
    noted: ChainPlace


class ChainPlace(TypedDict):
    """place in the audit log"""
    number: int
    digest: str


class Act(TypedDict):
    """act"""
    number: int
    at: int
    actor: str
    role: str
    action: str
    object: str
    summary: str
    previous: str


class RefusalCount(TypedDict):
    """refused requests, counted"""
    actor: str
    kind: str
    action: str
    times: int
    first_at: int
    last_at: int
    last_network: str


# Operation -> messages of its request and reply; empty: none, or bytes.
OPERATIONS: Dict[str, Tuple[str, str]] = {
    "GET /v1/uploads/{digest}": ("", "UploadState"),
    "PATCH /v1/uploads/{digest}": ("", "UploadState"),
    "GET /v1/blobs/{digest}": ("", ""),
    "GET /v1/admin/status": ("", "ServerStatus"),
    "GET /v1/admin/history": ("", "OverviewSampleList"),
    "GET /v1/admin/days": ("", "DayInfoList"),
    "GET /v1/admin/errors": ("", "ErrorGroupList"),
    "GET /v1/admin/events": ("", ""),
    "GET /v1/admin/settings": ("", "SettingInfoList"),
    "POST /v1/console/links": ("", "ConsoleLink"),
    "GET /v1/admin/applications": ("", "ApplicationInfoList"),
    "POST /v1/admin/applications": ("AddApplication", "ApplicationInfo"),
    "GET /v1/admin/applications/{name}": ("", "ApplicationInfo"),
    "GET /v1/admin/problems": ("", "ProblemInfoList"),
    "POST /v1/admin/problems": ("AddProblem", "ProblemInfo"),
    "GET /v1/admin/problems/{id}": ("", "ProblemInfo"),
    "DELETE /v1/admin/problems/{id}": ("", "Nothing"),
    "POST /v1/admin/problems/{id}/pause": ("Nothing", "ProblemInfo"),
    "POST /v1/admin/problems/{id}/resume": ("Nothing", "ProblemInfo"),
    "POST /v1/admin/problems/{id}/cancel": ("Nothing", "ProblemInfo"),
    "POST /v1/admin/problems/{id}/retry": ("Nothing", "ProblemInfo"),
    "POST /v1/admin/problems/{id}/retry-failed": ("Nothing", "ProblemInfo"),
    "POST /v1/admin/problems/{id}/append": ("AppendInputs", "ProblemInfo"),
    "POST /v1/admin/problems/{id}/strategy": ("ChangeStrategy", "ProblemInfo"),
    "POST /v1/admin/estimates": ("AddProblem", "ProblemEstimate"),
    "POST /v1/admin/problems/{id}/application": ("ChangeApplication", "ProblemInfo"),
    "POST /v1/admin/problems/{id}/preview": ("Nothing", "Preview"),
    "GET /v1/admin/problems/{id}/picture": ("", "Preview"),
    "POST /v1/admin/problems/{id}/partial": ("Nothing", "Preview"),
    "GET /v1/admin/problems/{id}/items": ("", ""),
    "GET /v1/admin/strategies": ("", "StrategyInfoList"),
    "GET /v1/admin/problems/{id}/decisions": ("", "DecisionInfoList"),
    "GET /v1/admin/problems/{id}/output": ("", "KernelOutput"),
    "GET /v1/admin/problems/{id}/hosts": ("", "ProblemHosts"),
    "POST /v1/admin/flows": ("FlowInfo", "FlowInfo"),
    "GET /v1/admin/flows/{name}": ("", "FlowInfo"),
    "GET /v1/admin/problems/{id}/map": ("", "ItemMap"),
    "GET /v1/admin/problems/{id}/history": ("", "ProblemSampleList"),
    "GET /v1/admin/hosts": ("", "HostInfoList"),
    "GET /v1/admin/hosts/{id}": ("", "HostInfo"),
    "POST /v1/admin/hosts/{id}/revoke": ("RevokeHost", "HostInfo"),
    "POST /v1/admin/hosts/{id}/hold": ("HoldHost", "HostInfo"),
    "POST /v1/admin/hosts/{id}/release": ("Nothing", "HostInfo"),
    "POST /v1/admin/hosts/{id}/tags": ("TagHost", "HostInfo"),
    "GET /v1/admin/hosts/{id}/units": ("", "UnitInfoList"),
    "GET /v1/admin/tables/{digest}": ("", "TablePage"),
    "GET /v1/admin/host-pages": ("", "HostPage"),
    "GET /v1/admin/codes": ("", "CodeInfoList"),
    "POST /v1/admin/codes": ("AddCode", "MadeCode"),
    "GET /v1/admin/codes/{name}": ("", "CodeInfo"),
    "POST /v1/admin/codes/{name}/rotate": ("Nothing", "MadeCode"),
    "POST /v1/admin/codes/{name}/withdraw": ("WithdrawCode", "CodeInfo"),
    "GET /v1/admin/relays": ("", "RelayInfoList"),
    "POST /v1/admin/relays": ("AddRelay", "MadeCode"),
    "GET /v1/admin/relays/{name}/limit": ("", "RelayLimit"),
    "POST /v1/admin/relays/{name}/quota": ("RelayQuota", "RelayInfo"),
    "GET /v1/admin/relay": ("", "RelayStatus"),
    "GET /v1/admin/tokens": ("", "TokenInfoList"),
    "POST /v1/admin/tokens": ("AddToken", "MadeToken"),
    "POST /v1/admin/tokens/{name}/withdraw": ("WithdrawToken", "TokenInfo"),
    "GET /v1/admin/bans": ("", "BanList"),
    "POST /v1/admin/bans": ("AddBan", "Ban"),
    "POST /v1/admin/bans/{kind}/remove": ("RemoveBan", "Ban"),
    "GET /v1/admin/audit": ("", "AuditPage"),
}
