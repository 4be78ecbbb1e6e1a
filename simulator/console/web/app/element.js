// The base of every element of the page: what it watches and which keys it has end when it leaves the page.

import { h, say } from "./dom.js";
import { addKeys } from "./keys.js";
import { visible } from "./safe-text.js";
import { watch } from "./store.js";

export class SimElement extends HTMLElement {
	/** Where the element says what was refused. */
	mistake = h("p", { class: "mistake", role: "alert" });
	/** Where an element that also reads says why an action was refused, which the next reading leaves there. */
	refusal = h("p", { class: "mistake", role: "alert" });
	/** @type {(() => void)[]} */
	ends = [];

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

	/** Keys that work while this element is connected. @param {Key[]} keys */
	keys(keys) {
		this.ends.push(addKeys(keys));
	}

	/** @param {EventTarget} target @param {string} name @param {(event: any) => void} then */
	listen(target, name, then) {
		target.addEventListener(name, then);
		this.ends.push(() => target.removeEventListener(name, then));
	}

	/** Call `then` when the size of this element changes. @param {() => void} then */
	resized(then) {
		const sizes = new ResizeObserver(then);
		sizes.observe(this);
		this.ends.push(() => sizes.disconnect());
	}

	/** Do something, and say in place why it was refused. @param {() => unknown} run @param {HTMLElement} [where] @returns {Promise<Error | null>} why */
	async attempt(run, where = this.mistake) {
		/** @type {Error | null} */
		let failure = null;
		try {
			await run();
		} catch (thrown) {
			if (!(thrown instanceof Error) || thrown instanceof TypeError) throw thrown;
			failure = thrown;
		}
		if (failure?.name !== "AbortError") say(where, visible(failure?.message ?? ""));
		return failure;
	}
}
