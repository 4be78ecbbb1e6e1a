// To be drawn.

import { SimElement } from "../app/element.js";

class SimSandboxes extends SimElement {}

customElements.define("sim-sandboxes", SimSandboxes);
