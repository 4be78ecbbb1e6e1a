// The base of every element of the page: what it watches and which keys it has end when it leaves the page.

import { addKeys } from "./keys.js";
import { watch } from "./store.js";

export class SimElement extends HTMLElement {
	constructor() {
		super();
		/** @type {(() => void)[]} */
		this.ends = [];
	}

	connectedCallback() {
		this.start();
	}

	disconnectedCallback() {
		for (const end of this.ends.splice(0)) end();
		this.stop();
	}

	/** Draw, and watch. Each element overrides it. */
	start() {}

	/** Clean up what `watch`, `keys` and `listen` do not. */
	stop() {}

	/**
	 * Call `then` whenever one of these topics of the store changes, once in a frame of the screen.
	 * @param {string | string[]} topics @param {() => void} then
	 */
	watch(topics, then) {
		for (const topic of [topics].flat()) this.ends.push(watch(topic, then));
	}

	/** Keys that work while this element is connected. @param {import("./keys.js").Key[]} keys */
	keys(keys) {
		this.ends.push(addKeys(keys));
	}

	/** @param {EventTarget} target @param {string} name @param {(event: any) => void} then */
	listen(target, name, then) {
		target.addEventListener(name, then);
		this.ends.push(() => target.removeEventListener(name, then));
	}
}
