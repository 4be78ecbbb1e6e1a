/** The variables by which a program finds a sandbox. */

import type { Control } from "./control.js";
import type { Sandbox } from "./sandbox.js";

/** Those that `reseller-sim exec` sets. */
export function environmentOf(sandbox: Sandbox, { url: controlUrl, token }: Control): Record<string, string> {
  const { url, apiKey, apiSecret, username, password, id } = sandbox;
  return {
    RESELLER_BASE_URL: url,
    RESELLER_API_KEY: apiKey,
    RESELLER_API_SECRET: apiSecret,
    RESELLER_USERNAME: username,
    RESELLER_PASSWORD: password,
    RESELLER_SANDBOX: id,
    RESELLER_SIM_URL: controlUrl,
    RESELLER_SIM_KEY: apiKey,
    RESELLER_SIM_SECRET: apiSecret,
    ...(token ? { RESELLER_SIM_TOKEN: token, RESELLER_SIM_CONTROL_TOKEN: token } : {}),
  };
}
