/** Ends the processes that we started when this one exits or is told to end, as runners do with tests that hang. What kills this
 * process ends their stdin. */

import type { ChildProcess } from "node:child_process";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const running = new Set<ChildProcess>();

const endAll = () => running.forEach((child) => void child.kill());

function signalled(signal: NodeJS.Signals): void {
  endAll();
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal); // nobody else decides what it means
}

function unwatch(): void {
  process.removeListener("exit", endAll);
  for (const signal of SIGNALS) process.removeListener(signal, signalled);
}

/** Ends this process's child with it, as long as the child runs. */
export function endWithThisProcess(child: ChildProcess): void {
  const ended = () => {
    running.delete(child);
    if (running.size === 0) unwatch();
  };
  unwatch(); // so that there is one listener, however many have started
  running.add(child);
  process.once("exit", endAll);
  for (const signal of SIGNALS) process.once(signal, signalled);
  child.once("exit", ended).once("error", ended);
}
