// Pages that are fetched when one of them is opened.
export { Access } from "./access";
export { Add } from "./add";
export { Applications, Audit, Settings } from "./more";
export { Relays } from "./relaypage";
export { Wall } from "./wall";
