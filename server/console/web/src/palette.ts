// Colours of the items: each pair differs for normal, protan, deutan and tritan eyes (tests/lint/check_colours.py computes it).
// Quarantined items have a cross, too.
export const accepted = "#2aa898", quarantined = "#cf3617", others = "#825782";
export const hosts = ["#e07306", "#3c3cdd", "#c3c322", "#79d2a6", "#bb67e4", "#682d86"];
