// To be drawn.

import { SimElement } from "../app/element.js";

class SimPayments extends SimElement {}

customElements.define("sim-payments", SimPayments);
