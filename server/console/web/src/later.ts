// Pages that are fetched when one of them is opened.
export { Access } from "./access";
export { Add } from "./add";
export { Applications } from "./applications";
export { Audit } from "./audit";
export { HostPage } from "./hostpage";
export { Hosts } from "./hosts";
export { Relays } from "./relaypage";
export { Settings } from "./settings";
export { translateLater } from "./strings/later";
export { Wall } from "./wall";
