// Certificates that browsers do not accept, made by `openssl`.
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const DAY_MS = 24 * 3_600_000;
const CONFIG = `
[ca]
default_ca = own
[own]
dir = .
database = index
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = any
x509_extensions = names
[any]
commonName = supplied
[names]
subjectAltName = DNS:localhost
`;

/** Makes a certificate and its key. It is valid from and until some days from now; both may be negative. */
export function makeCertificate({ from_days, until_days }) {
  const folder = mkdtempSync(join(tmpdir(), "repl-certificate-"));
  const openssl = (...args) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  const time = (days) => `${new Date(Date.now() + days * DAY_MS).toISOString().replace(/[-:T]|\..*/g, "")}Z`;
  writeFileSync(join(folder, "config"), CONFIG);
  writeFileSync(join(folder, "index"), "");
  openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "key.pem",
          "-out", "request.pem", "-subj", "/CN=localhost");
  openssl("ca", "-batch", "-selfsign", "-notext", "-config", "config", "-keyfile", "key.pem", "-in", "request.pem",
          "-out", "certificate.pem", "-startdate", time(from_days), "-enddate", time(until_days));
  return { folder, certificate: join(folder, "certificate.pem"), key: join(folder, "key.pem") };
}
