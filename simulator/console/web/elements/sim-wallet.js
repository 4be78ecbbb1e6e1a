// To be drawn.

import { SimElement } from "../app/element.js";

class SimWallet extends SimElement {}

customElements.define("sim-wallet", SimWallet);
