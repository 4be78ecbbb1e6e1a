// The page begins here: the frame, the first view, and then what the address says.

import "../elements/sim-frame.js";
import { begin } from "./router.js";

document.body.append(document.createElement("sim-frame"));
begin();

// The icon's address is relative to the page's, which changes.
const icon = document.querySelector('link[rel="icon"]');
if (icon instanceof HTMLLinkElement) icon.setAttribute("href", icon.href);
