// The page begins here: the frame, the first view, and then what the address says.

import "../elements/sim-frame.js";
import { ROOT } from "./api.js";
import { begin } from "./router.js";

// Chromium requests the icon again when the address changes; the icon's address is relative to the first address.
const icon = document.querySelector("link[rel=icon]");
if (icon instanceof HTMLLinkElement) icon.href = new URL("console/icon.svg", ROOT).href;

document.body.append(document.createElement("sim-frame"));
begin();
