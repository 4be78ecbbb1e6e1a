// To be drawn.

import { SimElement } from "../app/element.js";

class SimSign extends SimElement {}

customElements.define("sim-sign", SimSign);
