// A bad network on one UDP port: it passes datagrams on to a server, and may delay or lose them.
import { createSocket } from "node:dgram";
import { once } from "node:events";

/** Opens the port. `loss` (0 to 1) and `delay_ms` hold in each direction, and may be changed at any time. */
export async function openProxy(address, { loss = 0, delay_ms = 0 } = {}) {
  const port = Number(address.split(":").at(-1));
  const front = createSocket("udp4");
  const backs = new Map();
  let isOpen = true;
  const proxy = { loss, delay_ms, passed: 0, lost: 0, close };

  function carry(send) {
    if (Math.random() < proxy.loss) return void proxy.lost++;
    proxy.passed++;
    if (proxy.delay_ms > 0) setTimeout(() => isOpen && send(), proxy.delay_ms);
    else send();
  }

  /** Returns the socket that stands for a client toward the server. */
  function backOf(client) {
    const key = `${client.address}:${client.port}`;
    if (!backs.has(key)) {
      const back = createSocket("udp4");
      back.on("message", (datagram) => carry(() => front.send(datagram, client.port, client.address, ignore)));
      back.on("error", ignore);
      backs.set(key, back);
    }
    return backs.get(key);
  }

  function close() {
    isOpen = false;
    front.close();
    backs.forEach((back) => back.close());
  }

  front.on("message", (datagram, client) => {
    const back = backOf(client);
    carry(() => back.send(datagram, port, "127.0.0.1", ignore));
  });
  front.bind(0, "127.0.0.1");
  await once(front, "listening");
  proxy.address = `127.0.0.1:${front.address().port}`;
  return proxy;
}

/** Errors of a socket mean that a datagram is lost, as in a network. */
function ignore() {}
