// Parts of problems that are fetched when one of them is shown.
export { Decisions } from "./decisions";
export { FlowCard, FlowPage } from "./flow";
export { Output } from "./output";
export { Preview } from "./preview";
export { Scheduling } from "./scheduling";
export { translateLater } from "./strings/later";
export { SuitedHosts } from "./suited";
export { TableView } from "./tableview";
export { zip } from "./zip";
