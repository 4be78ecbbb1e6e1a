// To be drawn.

import { SimElement } from "../app/element.js";

class SimWebhooks extends SimElement {}

customElements.define("sim-webhooks", SimWebhooks);
