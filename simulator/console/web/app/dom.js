// Create elements. Content from outside is inserted as text, never as markup.

/**
 * An element with attributes and children. An attribute with a function as its value is a listener (`onclick`); one
 * that is false, null or undefined is left out, and true is an empty one. `style` has the properties of the style.
 * @template {string} K
 * @param {K} name @param {Record<string, any>} [attributes] @param {...Child} children
 * @returns {K extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[K] : HTMLElement}
 */
export function h(name, attributes = {}, ...children) {
	return /** @type {any} */ (fill(document.createElement(name), attributes, children));
}

const SVG = "http://www.w3.org/2000/svg";

/** An element of a drawing. @param {string} name @param {Record<string, any>} [attributes] @param {...Child} children */
export function svg(name, attributes = {}, ...children) {
	return fill(/** @type {SVGElement} */ (document.createElementNS(SVG, name)), attributes, children);
}

/** @template {HTMLElement | SVGElement} T @param {T} made @param {Record<string, any>} attributes @param {Child[]} children @returns {T} */
function fill(made, attributes, children) {
	for (const [key, value] of Object.entries(attributes)) {
		if (typeof value === "function") made.addEventListener(key.slice(2), value);
		else if (key === "style") for (const [name, one] of Object.entries(value)) made.style.setProperty(name, one);
		else if (key === "value" && made instanceof HTMLElement) /** @type {any} */ (made).value = value;
		else if (value !== false && value !== null && value !== undefined)
			made.setAttribute(key, value === true ? "" : String(value));
	}
	made.append(...nodes(children));
	return made;
}

/** For a button that must not do it twice: the second click of a double click is left out. @param {() => void} run */
export const once = (run) => (/** @type {MouseEvent} */ event) => {
	if (event.detail < 2) run();
	else event.preventDefault();
};

/** Replace the children of an element. @param {Element} into @param {...Child} children */
export function put(into, ...children) {
	into.replaceChildren(...nodes(children));
}

/** Replace them without moving the focus or closing opened parts, which `data-key`, `id` or `href` identify. @param {Element} into @param {...Child} children */
export function redraw(into, ...children) {
	const opened = new Map([...into.querySelectorAll("details")].map((one) => [keyOf(one), one.open]));
	const active = document.activeElement;
	const held = active && into.contains(active) ? keyOf(active) : "";
	const { scrollTop } = into;
	put(into, ...children);
	for (const one of into.querySelectorAll("details")) one.open = opened.get(keyOf(one)) ?? one.open;
	into.scrollTop = scrollTop;
	if (!held) return;
	for (const one of into.querySelectorAll("a, button, summary, input, select, textarea"))
		if (keyOf(one) === held && one instanceof HTMLElement) return one.focus();
}

/** @param {Element} one */
const keyOf = (one) =>
	one.getAttribute("data-key") || one.id || one.getAttribute("href") || one.closest("details")?.dataset.key || "";

/** @param {Child[]} children @returns {(Node | string)[]} */
function nodes(children) {
	const all = /** @type {any[]} */ (children).flat(9);
	return all
		.filter((one) => one !== null && one !== undefined && one !== false)
		.map((one) => (one instanceof Node ? one : String(one)));
}

/** Set a text only where it differs, so that nothing is laid out for nothing. @param {Node} node @param {string} text */
export function say(node, text) {
	if (node.textContent !== text) node.textContent = text;
}
