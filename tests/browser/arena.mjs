// The match of `examples/arena_web`, its page, and a native client that watches the same match.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";
import { chromium } from "playwright-core";

const browserPath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const started = new Set();

/** Returns a browser: `chromium`, or what the variable CHROMIUM names. */
export function launch(options = {}) {
  const { args = [], ...rest } = options;
  return chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", ...args], ...rest });
}

/** Starts a process that ends with this script at the latest. */
export function start(program, args, options = {}) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"], ...options });
  started.add(child);
  child.once("close", () => started.delete(child));
  return child;
}

/** Ends the processes that were started. */
export function stopAll() {
  started.forEach((child) => child.kill("SIGKILL"));
}

/** Starts the program of the match. Returns what it printed when its page was ready, and its process. */
export async function startMatch(program, args, options) {
  const child = start(program, ["--json", ...args], options);
  const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  if (!value) throw new Error("the program has ended before the page was ready");
  return { ...JSON.parse(value), child };
}

/** Opens a page, and waits until it has the initial state. `prepare` changes the page before it is loaded. */
export async function open(browser, url, width, errors, prepare = async () => {}) {
  const page = await browser.newPage({ viewport: { width, height: 800 } });
  await load(page, url, errors, prepare);
  return page;
}

/** Loads the page of the match into a page of the browser, and waits until it has the initial state. */
export async function load(page, url, errors, prepare = async () => {}) {
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await prepare(page);
  await page.goto(url);
  try {
    await untilSynchronized(page, 20_000);
  } catch {
    throw new Error(`the page has no state: ${await page.textContent("#message")} ${errors.join("; ")}`);
  }
}

function untilSynchronized(page, timeout) {
  return page.waitForFunction(() => window.arena_state && JSON.parse(window.arena_state()).synchronized, null, { timeout, polling: 20 });
}

/** Lets a page and a native client watch for some seconds. Returns the states of both, by tick. */
export async function watch(page, program, { address, hash }, seconds) {
  const native = new Map();
  const child = start(program, ["watch", address, "--pin", hash, "--seconds", String(seconds + 2)]);
  await page.evaluate(() => {
    window.seen = new Map();
    window.sampling = setInterval(() => {
      const text = window.arena_state();
      window.seen.set(JSON.parse(text).tick, text);
    }, 4);
  });
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    const state = JSON.parse(line);
    native.set(state.tick, state);
  });
  await once(lines, "close");
  const seen = await page.evaluate(() => (clearInterval(window.sampling), [...window.seen.values()]));
  return { native, seen: seen.map((text) => JSON.parse(text)) };
}

/** Returns what differs between the states of both at equal ticks: `{ tick, paths }` for each tick. */
export function compare({ native, seen }) {
  const both = seen.filter((state) => native.has(state.tick));
  return both.map((state) => ({ tick: state.tick, paths: differences(comparable(state), comparable(native.get(state.tick))) }));
}

/**
 * Returns the same states with only the slot of each reference. A client that has seen a restart of the server counts
 * other generations than a client that has not.
 */
export function withoutGenerations({ native, seen }) {
  const strip = (state) => JSON.parse(JSON.stringify(state).replace(/"(\d+)\.\d+"/g, '"$1"'));
  return { native: new Map([...native].map(([tick, state]) => [tick, strip(state)])), seen: seen.map(strip) };
}

/** Returns a state without what depends on when its client joined: values that the server did not send since. */
function comparable(state) {
  const isPlaying = Object.values(state.matches).some(({ phase }) => phase[0] === "Playing");
  const strip = ({ first_secret, laser, tally, ...rest }) => ({ ...rest, tally: isPlaying ? null : tally });
  const each = (objects) => Object.fromEntries(Object.entries(objects).map(([id, object]) => [id, strip(object)]));
  return { ...state, players: each(state.players), turrets: each(state.turrets) };
}

/** Returns the differences between two values, each with its path. */
function differences(one, other, path = "") {
  if (isDeepStrictEqual(one, other)) return [];
  if (one === null || other === null || typeof one !== "object" || typeof other !== "object") {
    return [{ path, what: `${JSON.stringify(one)} in the page, ${JSON.stringify(other)} in the native client` }];
  }
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].flatMap((key) => differences(one[key], other[key], `${path}.${key}`));
}

/** Returns a browser whose tabs are hidden as those of a user are: Playwright shows all pages that it launches. */
export async function launchWithRealTabs() {
  const profile = mkdtempSync(join(tmpdir(), "repl-profile-"));
  const args = ["--headless=new", "--no-sandbox", "--no-first-run", "--remote-debugging-port=0", `--user-data-dir=${profile}`];
  const child = start(browserPath, args, { stdio: ["ignore", "ignore", "pipe"] });
  for await (const line of createInterface({ input: child.stderr })) {
    const [, address] = line.match(/listening on (ws:\S+)/) ?? [];
    if (address) {
      child.stderr.resume();
      return chromium.connectOverCDP(address, { noDefaults: true });
    }
  }
  throw new Error("the browser has ended");
}
