//! A seeded network simulator: peers joined by links that delay, lose, duplicate, reorder and damage packets,
//! on a virtual clock.
//!
//! ```
//! # mod repl { pub(crate) use repl_sim as sim; }
//! use repl::sim::{Clock, LinkConditions, Network, PeerId};
//!
//! let (server, client) = (PeerId(0), PeerId(1));
//! let mut network = Network::new(7);
//! let (down, _up) = network.connect(server, client, LinkConditions::mobile());
//! network.lose_next(down, 3);
//!
//! let mut clock = Clock::at_hz(60);
//! let mut heard = 0;
//! for tick in 0..600_u32 {
//!     let now = clock.tick();
//!     network.send(now, server, client, &tick.to_le_bytes());
//!     while let Some(delivery) = network.deliver(now) {
//!         assert_eq!((delivery.from, delivery.to), (server, client));
//!         heard += 1;
//!     }
//! }
//! let stats = network.stats(down);
//! assert_eq!(stats.sent, 600);
//! assert_eq!(heard, stats.delivered);
//! assert!(stats.lost >= 3);
//! ```
//!
//! The simulator does not depend on replication. Packets are bytes, so the simulator can test any protocol
//! that does not use sockets and clocks itself. The simulator does not simulate the headers that UDP and IP
//! add to a packet.
//!
//! [`Network`] transports packets, [`LinkConditions`] describe the quality of a link, and [`SeedReport`]
//! prints the seed of a test that fails. Use [`Rng`] for the other random choices of a test.
//!
//! Guaranteed: one seed and one sequence of calls cause the same deliveries on every platform and in every
//! version of this crate. To check that two runs are the same, compare their [`Network::trace`]. Whether and
//! when a packet arrives depends on the seed, on the link, on the conditions of the link, and on the number
//! of the packet on the link. If links [share a queue](Network::share_queue), the packets of one link also
//! affect the others. A test that adds a link or loses a packet does not affect packets of other queues.
//!
//! *Invariant:* the simulator reads no real clock, and all its random choices come from the seed.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

mod clock;
mod conditions;
mod network;
mod rng;
mod seed;
mod trace;

pub use clock::Clock;
pub use conditions::{LinkConditions, Loss};
pub use network::{Delivery, LinkId, LinkStats, Network, PeerId};
pub use rng::Rng;
pub use seed::{SeedReport, seeds};
pub use trace::TraceHash;
