// To be drawn.

import { SimElement } from "../app/element.js";

class SimScenarios extends SimElement {}

customElements.define("sim-scenarios", SimScenarios);
