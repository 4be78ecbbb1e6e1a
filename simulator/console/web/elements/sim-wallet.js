// The wallets of a sandbox: figures or ledger, and a form that puts money in.

import "./wallet-ledger.js";
import { chosenReseller, resellerCodes } from "./sim-reseller.js";
import { figuresOf } from "./wallet-figures.js";
import { act } from "../app/action-log.js";
import { get, query } from "../app/api.js";
import { h, put, redraw } from "../app/dom.js";
import { form } from "../app/form.js";
import { sum } from "../app/format.js";
import { drawParts } from "../app/pieces.js";
import { ofKinds, Reading } from "../app/reading.js";
import { here, sandboxPath, place } from "../app/router.js";
import { sandboxNow } from "../app/store.js";

const matters = ofKinds("request", "status", "entry", "callback", "webhook");

class SimWallet extends Reading {
	/** @type {any} */
	figures = null;
	/** The reseller whose figures are read. */
	of = "";
	/** The wallets that the form offers. */
	offered = "";
	parts = h("nav", { class: "parts", "aria-label": "Wallet" });
	deposit = h("div", {});
	drawn = h("div", { class: "figures" });
	ledger = h("div", { class: "fill" });

	start() {
		const gap = h("span", { class: "gap" });
		const tools = h("div", { class: "tools" }, this.parts, h("sim-reseller"), gap, this.deposit);
		put(this, tools, this.mistake, this.drawn, this.ledger);
		this.watch(["place", "sandbox"], () => this.follow());
		this.watch("clock", () => this.drawn.firstChild || this.draw()); // nothing is drawn before it is known
		this.resized(() => this.draw());
		this.refreshOn((row) => matters(row) || row.event.action === "reseller_added");
		this.follow();
	}

	follow() {
		const isLedger = place.rest[0] === "ledger";
		const reseller = chosenReseller();
		drawParts(this.parts, [
			["Figures", here(["wallet"], { reseller }), !isLedger],
			["Ledger", here(["wallet", "ledger"], { reseller }), isLedger],
		]);
		this.toggleAttribute("data-ledger", isLedger);
		if (Boolean(this.ledger.firstChild) !== isLedger) put(this.ledger, isLedger && h("wallet-ledger"));
		this.offerDeposit();
		if (this.of !== reseller) this.now();
		else this.draw();
	}

	/** The form is recreated only for other wallets: text that was written would be gone. */
	offerDeposit() {
		const codes = chosenReseller() ? [chosenReseller()] : resellerCodes();
		const offered = JSON.stringify(codes);
		if (!codes.length || offered === this.offered) return;
		this.offered = offered;
		/** @type {Field[]} */
		const fields = [
			{ name: "amount", label: "deposit, MYR", size: 8 },
			{ name: "description", label: "description", size: 16 },
			{
				name: "type",
				label: "type",
				options: [
					["DEPOSIT", "deposit"],
					["COMMISSION", "commission"],
				],
			},
		];
		if (codes.length > 1) fields.unshift({ name: "to", label: "wallet of", options: codes });
		const made = form({
			label: "Put money into a wallet",
			submit: "deposit",
			fields,
			run: async (values) => {
				await deposit(values.to ?? codes[0], values);
				/** @type {HTMLInputElement} */ (made.elements.namedItem("amount")).value = "";
			},
		});
		put(this.deposit, made);
	}

	async read() {
		this.of = chosenReseller();
		try {
			this.figures = await get(sandboxPath("figures") + query({ reseller: this.of }));
		} catch (failure) {
			this.figures = {};
			throw failure;
		} finally {
			this.draw();
		}
	}

	draw() {
		const { drawn, figures } = this;
		drawn.hidden = place.rest[0] === "ledger";
		if (drawn.hidden || !figures || !sandboxNow()) return;
		if (!figures.wallets) return put(drawn);
		const { scrollTop } = this;
		const made = figuresOf(figures, drawn.clientWidth);
		drawn.style.setProperty("--columns", String(made.columns));
		redraw(drawn, ...made.figures);
		this.scrollTop = scrollTop;
	}
}

/** @param {string} reseller @param {Record<string, string>} values of the form: amount, description, type */
function deposit(reseller, { amount, description, type }) {
	const words = ["deposit", amount.trim(), "--reseller", reseller];
	if (description) words.push("--description", description);
	return act({
		method: "POST",
		path: sandboxPath("resellers", reseller, "deposits"),
		body: { amount: amount.trim(), ...(description && { description }), ...(type !== "DEPOSIT" && { type }) },
		cli: type === "DEPOSIT" ? words : undefined,
		says: (entry) => `deposited ${sum(entry.amount)} for ${reseller}, balance ${sum(entry.balance)}`,
	});
}

customElements.define("sim-wallet", SimWallet);
