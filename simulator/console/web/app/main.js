// The page begins here: the frame, the first view, and then what the address says.

import "../elements/sim-frame.js";
import { begin } from "./router.js";

document.body.append(document.createElement("sim-frame"));
begin();
