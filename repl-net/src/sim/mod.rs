//! A seeded network simulator: peers joined by links that delay, lose, repeat, reorder and damage packets, on a virtual clock.
//!
//! ```
//! use repl_net::sim::{Clock, LinkConditions, Network, PeerId};
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
//! It knows nothing of replication: packets are bytes, and any protocol without sockets and clocks of its own can be tried on it. It does
//! not model routers that several links share, nor the headers that UDP and IP add to a packet.
//!
//! [`Network`] carries packets, [`LinkConditions`] say how badly, and [`SeedReport`] prints the seed of a test that fails.
//! [`Rng`] is for the rest of a test's random choices.
//!
//! Guaranteed: one seed and one sequence of calls give the same deliveries on every platform and in every version of this crate;
//! two runs prove it by their [`Network::trace`]. What happens to a packet depends on the seed, its link, its place among the packets of
//! that link and the link's conditions, so a test that adds a link, or scripts a loss, leaves the others as they were.
//!
//! *Invariant:* nothing here reads a real clock or draws from a source of randomness other than the seed.

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
