// Magic accounts: an account whose last seven digits are `0000DOO` chooses how its payment ends.

import { cliLine } from "./commands.js";

const DIGITS_MAX = 20;
const AMOUNT = "10";

/** The field that gives the account. @param {any} product as the API has it */
function accountField(product) {
	const from = product.fulfillment.account?.from_field;
	return product.fields.find((/** @type {any} */ field) => field.id === from) ?? null;
}

/** An account with these last digits that the product's form accepts; empty when none was found. @param {any} product @param {string} digits */
export function accountOf(product, digits) {
	const field = accountField(product);
	if (!field || (field.type !== "text" && field.type !== "number")) return "";
	const end = `0000${digits.padStart(3, "0")}`;
	const pattern = patternOf(field.validation?.pattern);
	if (!pattern) return "";
	for (let length = 10; length <= DIGITS_MAX; length++)
		for (const start of ["01", "60", "21", "1"]) {
			const account = `${start.padEnd(length - end.length, "2")}${end}`;
			if (account.length === length && pattern.test(account)) return account;
		}
	return "";
}

/** @param {string | undefined} pattern of the catalog, which may be another language's */
function patternOf(pattern) {
	try {
		return new RegExp(pattern ?? "", "u");
	} catch {
		return null;
	}
}

/** Products that a magic account can be paid for without further questions. @param {any[]} rows of the catalog */
export function payable(rows) {
	return rows.filter(
		({ is_active, product }) =>
			is_active && accountOf(product, "00") && !Object.keys(product.fulfillment.extras).length,
	);
}

/** The command that pays with it, signed with the reseller's key. @param {any} product @param {string} digits @param {any} reseller */
export function callLine(product, digits, reseller) {
	const unlike = Date.now().toString(36).slice(-5);
	const amount = product.denomination?.split(",")[0] || product.min_amount?.amount || AMOUNT;
	const body = {
		refid: `magic-${digits}-${unlike}`,
		product: product.code,
		account: accountOf(product, digits),
		amount: String(amount),
	};
	const key = reseller ? ["--key", reseller.api_key, "--secret", reseller.api_secret] : [];
	return cliLine(["call", "POST", "/v2/topup", "-d", JSON.stringify(body), ...key]);
}
