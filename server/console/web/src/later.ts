// Pages that are fetched when one of them is opened.
export { Access } from "./access";
export { Add } from "./add";
export { Applications, Audit, Settings } from "./more";
export { HostPage } from "./hostpage";
export { Hosts } from "./hosts";
export { Relays } from "./relaypage";
export { translateLater } from "./strings/later";
export { Wall } from "./wall";
