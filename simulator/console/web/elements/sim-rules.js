// To be drawn.

import { SimElement } from "../app/element.js";

class SimRules extends SimElement {}

customElements.define("sim-rules", SimRules);
