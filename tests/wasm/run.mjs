// Prints the same lines as `main.rs`, but the hashes come from the build for WebAssembly.
//
//   node run.mjs FILE.wasm
import { readFile } from "node:fs/promises";

const { instance } = await WebAssembly.instantiate(await readFile(process.argv[2]), {});
for (let seed = 0n; seed < instance.exports.seeds(); seed++) {
  const trace = BigInt.asUintN(64, instance.exports.trace_of(seed));
  console.log(`${seed} ${trace.toString(16).padStart(16, "0")}`);
}
