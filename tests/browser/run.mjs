// Compares the client of a page with a native client: both watch the match of `examples/arena_web`, and must have
// the same values at equal ticks. Then a page plays by keys. Prints one line of JSON; the exit code is 1 if
// something is wrong, and 2 if the test could not run.
//
//   npm install --prefix tests/browser
//   node tests/browser/run.mjs PROGRAM [--seconds N] [--pictures FOLDER]
//
// PROGRAM is the program of `examples/arena_web`. The browser is `chromium`, or what the variable CHROMIUM names.
import { parseArgs } from "node:util";
import { brotliCompressSync } from "node:zlib";
import { compare, launch, open, startMatch, stopAll, watch } from "./arena.mjs";

const MOST_WASM_BYTES = 330_000; // as brotli; 300,000 are the aim
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: "string", default: "10" }, pictures: { type: "string" } },
});
const [program] = positionals;
const seconds = Number(options.seconds);

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
  const { url, server } = await startMatch(program, ["--port", "0", "--ticks", "7200"]);
  const page = await open(browser, `${url}?watch`, 1280, errors);
  const compared = compare(await watch(page, program, server, seconds));
  const differing = compared.filter(({ paths }) => paths.length > 0);
  const stats = JSON.parse(await page.evaluate(() => window.arena_stats()));
  const picture = async (page, name) => options.pictures && page.screenshot({ path: `${options.pictures}/${name}.png`, fullPage: true });
  await picture(page, "watch-1280");
  const player = await open(browser, `${url}?play`, 390, errors);
  await picture(player, "play-390");
  const played = await play(player);
  await picture(player, "play-390-later");
  const wasm = Buffer.from(await (await fetch(`${url}arena_page_bg.wasm`)).arrayBuffer());
  const brotli = brotliCompressSync(wasm).length;
  const ok = compared.length >= seconds * 20 && differing.length === 0 && stats.differed === 0 && stats.agreed > 0
    && played.run >= 3 && played.shots > 0 && brotli <= MOST_WASM_BYTES && errors.length === 0;
  const outcome = { ok, ticks_compared: compared.length, ticks_differing: differing.length, first_difference: differing[0]?.paths[0],
                    ...stats, metres_run: played.run, shots_seen: played.shots, wasm_bytes: wasm.length, wasm_brotli_bytes: brotli, errors };
  console.log(JSON.stringify(outcome));
  return ok;
}

let code = 2;
let browser;
try {
  browser = await launch();
  code = (await test(browser)) ? 0 : 1;
} catch (error) {
  console.error(`tests/browser: ${error.message}`);
} finally {
  await browser?.close();
  stopAll();
}
process.exit(code);
