// The match of `examples/arena_web`, its page, and a native client that watches the same match.
import { once } from "node:events";
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";
import { load as loadPage, open as openPage, start, startServer } from "./browser.mjs";

const isSynchronized = () => window.arena_state && JSON.parse(window.arena_state()).synchronized;

/** Starts a match. */
export function startMatch(program, args, options) {
  return startServer(program, ["--json", ...args], options);
}

/** Opens the page of a match, and waits until it has the initial state. */
export function open(browser, url, width, errors, prepare) {
  return openPage(browser, url, width, errors, isSynchronized, prepare);
}

/** Does the same with a page that was opened before. */
export function load(page, url, errors, prepare) {
  return loadPage(page, url, errors, isSynchronized, prepare);
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
