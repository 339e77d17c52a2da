// Chromium, its pages, and the processes of a test.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { brotliCompressSync } from "node:zlib";
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

/**
 * Starts a program of `examples/arena_web`. Returns what it printed when its page was ready, its process, and the lines
 * that it prints later.
 */
export async function startServer(program, args, options) {
  const child = start(program, args, options);
  const lines = createInterface({ input: child.stdout });
  return { ...(await next(lines)), child, lines };
}

/** Returns what the next line of a program says. */
export async function next(lines) {
  const [line] = await Promise.race([once(lines, "line"), once(lines, "close")]);
  if (!line) throw new Error("the program has ended");
  return JSON.parse(line);
}

/**
 * Opens a page, and waits until `isReady` returns something in it. `prepare` changes the page before it is loaded.
 * Errors of the page are added to `errors`.
 */
export async function open(browser, url, width, errors, isReady, prepare) {
  const page = await browser.newPage({ viewport: { width, height: 800 } });
  await load(page, url, errors, isReady, prepare);
  return page;
}

/** Does the same with a page that was opened before. */
export async function load(page, url, errors, isReady, prepare = async () => {}) {
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await prepare(page);
  await page.goto(url);
  try {
    await page.waitForFunction(isReady, null, { timeout: 30_000, polling: 20 });
  } catch {
    throw new Error(`the page is not ready: ${await page.textContent("#message")} ${errors.join("; ")}`);
  }
}

/** Saves a picture of a page in a folder, if there is one. */
export async function picture(page, folder, name) {
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

/** Returns how many bytes a WebAssembly has, and how many as brotli. */
export async function sizes(url) {
  const wasm = Buffer.from(await (await fetch(url)).arrayBuffer());
  return { wasm_bytes: wasm.length, wasm_brotli_bytes: brotliCompressSync(wasm).length };
}

/** Runs a test with a browser, prints its outcome as a line of JSON, and ends this script. */
export async function run(test) {
  let code = 2;
  let browser;
  try {
    browser = await launch();
    const outcome = await test(browser);
    console.log(JSON.stringify(outcome));
    code = outcome.ok ? 0 : 1;
  } catch (error) {
    console.error(`tests/browser: ${error.message}`);
  } finally {
    await browser?.close();
    stopAll();
  }
  process.exit(code);
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
