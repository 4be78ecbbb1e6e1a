// To be drawn.

import { SimElement } from "../app/element.js";

class SimCoverage extends SimElement {}

customElements.define("sim-coverage", SimCoverage);
