// Pages that are fetched when one of them is opened.
export { Access } from "./access";
export { Add } from "./add";
export { Applications, Audit, Settings } from "./more";
export { HostPage } from "./hostpage";
export { Output } from "./output";
export { Relays } from "./relaypage";
export { Preview } from "./preview";
export { TableView } from "./tableview";
export { translateLater } from "./strings/later";
export { Wall } from "./wall";
export { zip } from "./zip";
