// Create elements. Content from outside is inserted as text, never as markup.

/** @typedef {Node | string | number | null | undefined | false} One */
/** @typedef {One | ChildList} Child */
/** @typedef {Array<One | ChildList>} ChildList */

/**
 * An element with attributes and children. An attribute with a function as its value is a listener (`onclick`); one
 * that is false, null or undefined is left out, and true is an empty one.
 * @param {string} name
 * @param {Record<string, any>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function h(name, attributes = {}, ...children) {
	return fill(document.createElement(name), attributes, children);
}

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element of a drawing.
 * @param {string} name
 * @param {Record<string, any>} [attributes]
 * @param {...Child} children
 * @returns {SVGElement}
 */
export function svg(name, attributes = {}, ...children) {
	return fill(/** @type {SVGElement} */ (document.createElementNS(SVG, name)), attributes, children);
}

/** @template {HTMLElement | SVGElement} T @param {T} made @param {Record<string, any>} attributes @param {Child[]} children @returns {T} */
function fill(made, attributes, children) {
	for (const [key, value] of Object.entries(attributes)) {
		if (typeof value === "function") made.addEventListener(key.slice(2), value);
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

/** @param {Child[]} children @returns {(Node | string)[]} */
function nodes(children) {
	const all = /** @type {One[]} */ (/** @type {any[]} */ (children).flat(9));
	return all
		.filter((one) => one !== null && one !== undefined && one !== false)
		.map((one) => (one instanceof Node ? one : String(one)));
}

/** Set a text only where it differs, so that nothing is laid out for nothing. @param {Node} node @param {string} text */
export function say(node, text) {
	if (node.textContent !== text) node.textContent = text;
}
