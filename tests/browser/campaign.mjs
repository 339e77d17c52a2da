// Bad networks, restarts, hidden tabs, bad pages, memory and time: what a page of `examples/arena_web` must
// stand. Prints one line of JSON for each case; the exit code is 1 if a case failed. Takes about 16 minutes.
//
//   npm install --prefix tests/browser
//   node tests/browser/campaign.mjs PROGRAM [--only CASE,CASE] [--seconds N] [--minutes N]
//
// PROGRAM is the program of `examples/arena_web`. The cases that compare a page with a native client last N
// seconds, and the case `memory` lasts N minutes.
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { badPages } from "./bad_pages.mjs";
import { compare, load, open, startMatch, watch, withoutGenerations } from "./arena.mjs";
import { launch, launchWithRealTabs, start, stopAll } from "./browser.mjs";
import { openProxy } from "./proxy.mjs";

const TICKS_PER_SECOND = 60;
// 15 minutes. Another match begins with the first case after 4 minutes.
const LONGEST_MATCH = ["--ticks", "54000"];
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: "string" }, seconds: { type: "string", default: "60" }, minutes: { type: "string", default: "10" } },
});
const [program] = positionals;
const seconds = Number(options.seconds);
const stats = (page) => page.evaluate(() => JSON.parse(window.arena_stats()));

/** Opens a page that reaches the server at another address. */
function openAt(browser, match, address, errors) {
  return open(browser, `${match.url}?watch`, 800, errors, (page) => reroute(page, { ...match.server, address }));
}

/** Tells a page, before it is loaded, where its server is. */
function reroute(page, server) {
  return page.route("**/server.json", (route) => route.fulfill({ json: server }));
}

/** A page has the same values as a native client at equal ticks. */
async function equal(browser, match) {
  const errors = [];
  const page = await open(browser, `${match.url}?watch`, 800, errors);
  const compared = compare(await watch(page, program, match.server, seconds));
  const differing = compared.filter(({ paths }) => paths.length > 0);
  const { agreed, differed, packets_lost } = await stats(page);
  const ok = compared.length >= seconds * 20 && differing.length === 0 && differed === 0 && errors.length === 0;
  return { ok, ticks_compared: compared.length, ticks_differing: differing.length, first: differing[0]?.paths[0], agreed, differed, packets_lost, errors };
}

/**
 * The same while both clients lose datagrams, each others. What one of them lost, it gets a round trip later, and until
 * then its values differ. So no value may differ for longer than a second, and none a second after the loss.
 */
async function equalWithLoss(browser, match) {
  const [errors, loss] = [[], 0.05];
  const proxy = await openProxy(match.server.address, { loss });
  const page = await openAt(browser, match, proxy.address, errors);
  const watching = watch(page, program, { ...match.server, address: proxy.address }, seconds + 4);
  await sleep(seconds * 1000);
  proxy.loss = 0;
  await sleep(1000);
  const calm = await page.evaluate(() => JSON.parse(window.arena_state()).tick);
  const compared = compare(await watching);
  const after = compared.filter(({ tick }) => tick >= calm);
  const differing = (ticks) => ticks.filter(({ paths }) => paths.length > 0).length;
  const { longest, path } = longestDifference(compared);
  const { packets_lost, agreed, differed } = await stats(page);
  const ok = compared.length >= seconds * 20 && longest <= TICKS_PER_SECOND && after.length >= TICKS_PER_SECOND
    && differing(after) === 0 && errors.length === 0 && packets_lost > 0;
  return { ok, loss, datagrams: proxy.passed + proxy.lost, datagrams_lost: proxy.lost, ticks_compared: compared.length,
           ticks_differing: differing(compared), longest_difference_ticks: longest, of: path, ticks_after_loss: after.length,
           ticks_differing_after_loss: differing(after), agreed, differed, packets_lost, errors };
}

/** Returns for how many ticks the same value differed, at most. */
function longestDifference(compared) {
  let [since, longest, path] = [new Map(), 0, null];
  for (const { tick, paths } of [...compared].sort((one, other) => one.tick - other.tick)) {
    since = new Map(paths.map((found) => [found.path, since.get(found.path) ?? tick]));
    for (const [found, first] of since) {
      if (tick - first + 1 > longest) [longest, path] = [tick - first + 1, found];
    }
  }
  return { longest, path };
}

/** The process of the server is killed, and started again at the same ports with the same certificate. */
async function restart(browser) {
  const match = await startMatch(program, [...LONGEST_MATCH, "--port", "0"]);
  const page = await open(browser, `${match.url}?watch`, 800, []);
  await sleep(5000);
  match.child.kill("SIGKILL");
  const killed_at = Date.now();
  await once(match.child, "exit");
  await sleep(1000);
  const frozen = await page.evaluate(() => JSON.parse(window.arena_state()).tick);
  const ports = ["--port", new URL(match.url).port, "--server-port", match.server.address.split(":").at(-1)];
  const { server, child } = await startMatch(program, [...LONGEST_MATCH, ...ports]);
  const ready_at = Date.now();
  await page.waitForFunction((frozen) => {
    const { synchronized, tick } = JSON.parse(window.arena_state());
    return synchronized && tick !== frozen && JSON.parse(window.arena_stats()).connected;
  }, frozen, { timeout: 60_000, polling: 20 });
  const connected_at = Date.now();
  const compared = compare(withoutGenerations(await watch(page, program, server, 10)));
  child.kill();
  const differing = compared.filter(({ paths }) => paths.length > 0);
  const ok = server.hash === match.server.hash && compared.length >= 200 && differing.length === 0;
  return { ok, down_ms: ready_at - killed_at, connected_after_ready_ms: connected_at - ready_at,
           ticks_compared: compared.length, ticks_differing: differing.length, first: differing[0]?.paths[0] };
}

/** The tab is hidden for 30 s, because another one is shown. */
async function hidden(_, match) {
  const errors = [];
  const browser = await launchWithRealTabs();
  const [context] = browser.contexts();
  const page = await context.newPage();
  await page.bringToFront();
  await load(page, `${match.url}?watch`, errors);
  await page.evaluate(() => {
    window.lost = 0;
    window.runs = 0;
    setInterval(() => (window.runs++, (window.lost += JSON.parse(window.arena_stats()).connected ? 0 : 1)), 100);
  });
  const before = await stats(page);
  const other = await context.newPage();
  await other.bringToFront();
  await sleep(1000);
  const runs = await page.evaluate(() => window.runs);
  await sleep(29_000);
  const visibility = await page.evaluate(() => document.visibilityState);
  const timers_per_second = ((await page.evaluate(() => window.runs)) - runs) / 29;
  await page.bringToFront();
  const shown = await stats(page);
  const watching = watch(page, program, match.server, 10);
  await sleep(2000);
  const soon = await stats(page);
  const compared = compare(await watching);
  const differing = compared.filter(({ paths }) => paths.length > 0);
  const after = await stats(page);
  const lost = await page.evaluate(() => window.lost);
  await browser.close();
  const ok = visibility === "hidden" && lost === 0 && after.connected && compared.length >= 200 && differing.length === 0
    && soon.agreed > shown.agreed && after.differed === before.differed && errors.length === 0;
  return { ok, visibility, timers_per_second, times_not_connected: lost, agreed_within_2_s: soon.agreed - shown.agreed,
           ticks_compared: compared.length, ticks_differing: differing.length, first: differing[0]?.paths[0], packets_lost: after.packets_lost - before.packets_lost,
           agreed: after.agreed - before.agreed, differed: after.differed - before.differed, errors };
}

/** The first object is there after at most four round trips. */
async function firstState(browser, match) {
  const [errors, delay_ms, tries] = [[], 100, []];
  const proxy = await openProxy(match.server.address, { delay_ms });
  for (let number = 0; number < 5; number++) {
    const page = await open(browser, `${match.url}?watch`, 800, errors, async (page) => {
      await reroute(page, { ...match.server, address: proxy.address });
      await page.addInitScript(timeFirstObject);
    });
    tries.push(await page.evaluate(() => window.first_object_at - window.transport_at));
    await page.close();
  }
  const round_trips = tries.map((ms) => Number((ms / (2 * delay_ms)).toFixed(2))).sort();
  return { ok: round_trips[2] <= 4 && errors.length === 0, median_round_trips: round_trips[2], round_trips, errors };
}

/** Runs in the page: notes when it makes a WebTransport, and when it has an object. */
function timeFirstObject() {
  const Original = globalThis.WebTransport;
  globalThis.WebTransport = class extends Original {
    constructor(...args) {
      window.transport_at ??= performance.now();
      super(...args);
    }
  };
  const timer = setInterval(() => {
    const state = window.arena_state && JSON.parse(window.arena_state());
    const { matches = {}, teams = {}, players = {}, turrets = {} } = state || {};
    if (Object.keys({ ...matches, ...teams, ...players, ...turrets }).length === 0) return;
    window.first_object_at = performance.now();
    clearInterval(timer);
  }, 4);
}

/** The client of a page takes at most three times as long for a packet as a native one. */
async function time(browser, match) {
  const page = await open(browser, `${match.url}?watch`, 800, []);
  const child = start(program, ["watch", match.server.address, "--pin", match.server.hash, "--seconds", "30", "--stats"]);
  let text = "";
  child.stdout.on("data", (part) => (text += part));
  await once(child, "close");
  const [native, known] = [JSON.parse(text), await stats(page)];
  const ratio = known.microseconds_per_packet / native.microseconds_per_packet;
  return { ok: ratio <= 3, page_us: known.microseconds_per_packet, native_us: native.microseconds_per_packet, ratio,
           page_packets: known.packets, native_packets: native.packets };
}

/** The memory does not grow. The first third of the time is for warming up. */
async function memory(browser, match) {
  const errors = [];
  const minutes = Number(options.minutes);
  const page = await open(browser, `${match.url}?watch`, 800, errors);
  const cdp = await page.context().newCDPSession(page);
  const samples = [];
  for (const end = Date.now() + minutes * 60_000; Date.now() < end; await sleep(10_000)) {
    await cdp.send("HeapProfiler.collectGarbage");
    const { usedSize } = await cdp.send("Runtime.getHeapUsage");
    samples.push({ heap: usedSize, wasm: (await stats(page)).memory_bytes });
  }
  const third = Math.floor(samples.length / 3);
  const mean = (part, of) => Math.round(part.reduce((sum, sample) => sum + sample[of], 0) / part.length);
  const [middle, last] = [samples.slice(third, 2 * third), samples.slice(2 * third)];
  const [heap_middle, heap_last] = [mean(middle, "heap"), mean(last, "heap")];
  const [wasm_middle, wasm_last] = [mean(middle, "wasm"), mean(last, "wasm")];
  const { connected, packets } = await stats(page);
  const ok = connected && heap_last <= heap_middle * 1.02 && wasm_last === wasm_middle && errors.length === 0;
  return { ok, minutes, samples: samples.length, packets, wasm_start: samples[0].wasm, wasm_middle, wasm_last,
           heap_start: samples[0].heap, heap_middle, heap_last, errors };
}

const cases = {
  equal, equal_with_loss: equalWithLoss, restart, hidden, first_state: firstState,
  ...badPages(program), time, memory,
};

let failed = false;
let match = null;
for (const [name, run] of Object.entries(cases)) {
  if (options.only && !options.only.split(",").includes(name)) continue;
  if (!match || Date.now() > match.until) {
    match?.child.kill();
    match = { ...(await startMatch(program, [...LONGEST_MATCH, "--port", "0"])), until: Date.now() + 4 * 60_000 };
  }
  const browser = await launch({ args: ["--host-resolver-rules=MAP plain.test 127.0.0.1"] });
  const outcome = await run(browser, match).catch((error) => ({ ok: false, error: error.message }));
  await browser.close();
  failed ||= !outcome.ok;
  console.log(JSON.stringify({ case: name, ...outcome }));
}
stopAll();
process.exit(failed ? 1 : 0);
