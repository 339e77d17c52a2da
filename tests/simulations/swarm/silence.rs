//! The silence at the end of a run: in a world without changes, both sides send only keep-alive packets.
//!
//! *Invariant:* every packet of the silence is counted.

use std::time::Duration;

use crate::plan::Plan;

/// How long the silence lasts, in seconds.
pub(crate) const SILENT_S: u32 = 2;
/// A client sends keep-alive packets as if its timeout were at most this long.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(10);
/// The shortest time between two keep-alive packets is the timeout divided by this number. The longest time
/// is a fortieth of the timeout.
const LEAST_SILENCE: u32 = 240;
/// The shortest time between two hellos of a client that receives nothing. The mean time is 250 ms.
const LEAST_SEARCH: Duration = Duration::from_millis(125);
/// A packet with at most this many bytes has no state: only its frame, and a few ranges of acks.
const SIGNAL_BYTES: usize = 40;

/// The number of packets since the silence began.
#[derive(Default)]
pub(crate) struct Silence {
    /// How many packets of the server may have state.
    loud: u64,
    /// The number of all packets except hellos.
    all: u64,
    hellos: u64,
}

impl Silence {
    /// Counts a packet of the server.
    pub(crate) fn of_server(&mut self, packet: &[u8]) {
        self.loud += u64::from(packet.len() > SIGNAL_BYTES);
        self.all += 1;
    }

    /// Counts a packet of a client, which has no state. At high losses it has many ranges of acks.
    pub(crate) fn of_client(&mut self) {
        self.all += 1;
    }

    pub(crate) fn hello(&mut self) {
        self.hellos += 1;
    }

    /// Asserts that nothing was sent but keep-alive packets and hellos, and few of them.
    pub(crate) fn assert_silent(&self, plan: &Plan, clients: usize) {
        assert_eq!(self.loud, 0, "packets with state in a world where nothing happens");
        let silent_ms = u64::from(SILENT_S) * 1_000;
        let signs = |interval: Duration| 1 + silent_ms / (interval.as_millis() as u64).max(1);
        let of_server = signs(plan.timeout / LEAST_SILENCE);
        // The client does not know the timeout of the server.
        let of_client = signs(plan.timeout.min(CLIENT_TIMEOUT) / LEAST_SILENCE);
        let most = clients as u64 * (of_server + of_client);
        assert!(self.all <= most, "{} signs of life of {clients} clients", self.all);
        let most = clients as u64 * signs(LEAST_SEARCH);
        assert!(self.hellos <= most, "{} hellos of {clients} clients", self.hellos);
    }
}
