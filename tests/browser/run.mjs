// Compares the client of a page with a native client: both watch the match of `examples/arena_web`, and must have
// the same values at equal ticks. Then a page plays by keys. Prints one line of JSON; the exit code is 1 if
// something is wrong, and 2 if the test could not run.
//
//   npm install --prefix tests/browser
//   node tests/browser/run.mjs PROGRAM [--seconds N] [--pictures FOLDER]
//
// PROGRAM is the program of `examples/arena_web`. The browser is `chromium`, or what the variable CHROMIUM names.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { brotliCompressSync } from "node:zlib";
import { chromium } from "playwright-core";

const MOST_WASM_BYTES = 300_000; // as brotli
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: "string", default: "10" }, pictures: { type: "string" } },
});
const [program] = positionals;
const seconds = Number(options.seconds);
const started = [];

/** Starts a process that ends with this script, and returns the lines of its output. */
function start(...args) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  started.push(child);
  return createInterface({ input: child.stdout });
}

/** Returns a state without what depends on when its client joined: values that the server did not send since. */
function comparable(state) {
  const isPlaying = Object.values(state.matches).some(({ phase }) => phase[0] === "Playing");
  const strip = ({ first_secret, laser, tally, ...rest }) => ({ ...rest, tally: isPlaying ? null : tally });
  const each = (objects) => Object.fromEntries(Object.entries(objects).map(([id, object]) => [id, strip(object)]));
  return { ...state, players: each(state.players), turrets: each(state.turrets) };
}

/** Returns the path of the first difference between two values, or null. */
function difference(one, other, path = "") {
  if (isDeepStrictEqual(one, other)) return null;
  if (one === null || other === null || typeof one !== "object" || typeof other !== "object") {
    return `${path}: ${JSON.stringify(one)} in the page, ${JSON.stringify(other)} in the native client`;
  }
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].map((key) => difference(one[key], other[key], `${path}.${key}`)).find((found) => found);
}

/** Opens a page, and waits until it has the initial state. */
async function open(browser, url, width, errors) {
  const page = await browser.newPage({ viewport: { width, height: 800 } });
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await page.goto(url);
  try {
    await page.waitForFunction(() => window.arena_state && JSON.parse(window.arena_state()).synchronized, null, { timeout: 20_000 });
  } catch {
    throw new Error(`the page has no state: ${await page.textContent("#message")} ${errors.join("; ")}`);
  }
  return page;
}

/** Lets a page and a native client watch for some seconds, and returns the states of both by tick. */
async function watch(page, { address, hash }) {
  const native = new Map();
  const lines = start("watch", address, "--pin", hash, "--seconds", String(seconds + 2));
  await page.evaluate(() => {
    window.seen = new Map();
    window.sampling = setInterval(() => {
      const text = window.arena_state();
      window.seen.set(JSON.parse(text).tick, text);
    }, 4);
  });
  lines.on("line", (line) => {
    const state = JSON.parse(line);
    native.set(state.tick, state);
  });
  await once(lines, "close");
  const seen = await page.evaluate(() => (clearInterval(window.sampling), [...window.seen.values()]));
  return { native, seen: seen.map((text) => JSON.parse(text)) };
}

/** Plays by keys. Returns how far the player ran, and whether a shot of it was seen. */
async function play(page) {
  const me = () => page.evaluate(() => {
    const state = JSON.parse(window.arena_state());
    const shots = Object.values(state.shots).filter((shot) => shot.shooter === state.me).length;
    return { ...state.players[state.me], shots };
  });
  let [run, shots] = [0, 0];
  let last = await me();
  // Toward the middle first, because the player may stand at an edge; for long enough that a break passes.
  await page.keyboard.down(last.position[0] > 0 ? "ArrowLeft" : "KeyD");
  await page.keyboard.down("Space");
  for (let turn = 0; turn < 60 && (run < 3 || shots === 0); turn++) {
    await page.waitForTimeout(100);
    const now = await me();
    const step = Math.abs(now.position[0] - last.position[0]);
    run += step < 2 ? step : 0; // A player that appears again elsewhere did not run there.
    shots += now.shots;
    last = now;
  }
  return { run, shots };
}

async function test(browser) {
  const errors = [];
  const { value: ready } = await start("--json", "--port", "0", "--ticks", "7200")[Symbol.asyncIterator]().next();
  if (!ready) throw new Error("the program has ended before the page was ready");
  const { url, server } = JSON.parse(ready);
  const page = await open(browser, `${url}?watch`, 1280, errors);
  const { native, seen } = await watch(page, server);
  const both = seen.filter((state) => native.has(state.tick));
  const differences = both
    .map((state) => [state.tick, difference(comparable(state), comparable(native.get(state.tick)))])
    .filter(([, found]) => found);
  const stats = JSON.parse(await page.evaluate(() => window.arena_stats()));
  const picture = async (page, name) => options.pictures && page.screenshot({ path: `${options.pictures}/${name}.png`, fullPage: true });
  await picture(page, "watch-1280");
  const player = await open(browser, `${url}?play`, 390, errors);
  await picture(player, "play-390");
  const played = await play(player);
  await picture(player, "play-390-later");
  const wasm = Buffer.from(await (await fetch(`${url}arena_page_bg.wasm`)).arrayBuffer());
  const brotli = brotliCompressSync(wasm).length;
  const ok = both.length >= seconds * 20 && differences.length === 0 && stats.differed === 0 && stats.agreed > 0
    && played.run >= 3 && played.shots > 0 && brotli <= MOST_WASM_BYTES && errors.length === 0;
  const outcome = { ok, ticks_compared: both.length, ticks_differing: differences.length, first_difference: differences[0],
                    ...stats, metres_run: played.run, shots_seen: played.shots, wasm_bytes: wasm.length, wasm_brotli_bytes: brotli, errors };
  console.log(JSON.stringify(outcome));
  return ok;
}

let code = 2;
let browser;
try {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  code = (await test(browser)) ? 0 : 1;
} catch (error) {
  console.error(`tests/browser: ${error.message}`);
} finally {
  await browser?.close();
  started.forEach((child) => child.kill());
}
process.exit(code);
