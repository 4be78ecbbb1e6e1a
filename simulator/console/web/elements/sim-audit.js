// To be drawn.

import { SimElement } from "../app/element.js";

class SimAudit extends SimElement {}

customElements.define("sim-audit", SimAudit);
