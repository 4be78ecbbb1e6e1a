// To be drawn.

import { SimElement } from "../app/element.js";

class SimInbox extends SimElement {}

customElements.define("sim-inbox", SimInbox);
