// To be drawn.

import { SimElement } from "../app/element.js";

class SimCatalog extends SimElement {}

customElements.define("sim-catalog", SimCatalog);
