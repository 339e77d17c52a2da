//! Looks inside the packets that the server has made: counts their bits by class and property, and logs them.
//!
//! *Invariant:* the packets are the same, whether somebody looks or not.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use repl_core::{BitReader, Guid, Program};
use repl_link::parts::{Sequence, ServerSessions};

use super::Server;
use super::connection::Connection;
use super::world::World;
use crate::inspect::survey::{Account, Catalog, survey};
use crate::inspect::traffic::ClassTraffic;
use crate::inspect::tree::Tree;
use crate::session::classes::ClassList;
use crate::telemetry;

impl Server {
    /// Returns how many bits have been sent so far for each class and each property, to all clients together:
    /// what is sent to several clients counts for each of them, and what is sent again after a loss counts
    /// again. An object that is too large for a packet counts when its first part is sent. Empty unless
    /// [`ServerConfig::measure`](crate::ServerConfig::measure) is set.
    ///
    /// ```
    /// # use repl_net as repl;
    /// fn print_traffic(server: &repl::Server) {
    ///     for class in server.traffic() {
    ///         for property in &class.properties {
    ///             println!("{}.{}: {} B", class.class, property.path, property.bits / 8);
    ///         }
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn traffic(&self) -> &[ClassTraffic] {
        self.traffic.as_ref().map_or(&[], |traffic| &traffic.classes)
    }

    /// Returns how many packets each connection has made so far, if somebody wants to look at the next ones.
    pub(super) fn begin_look(&self) -> Option<Vec<u64>> {
        let is_wanted = self.traffic.is_some() || telemetry::wants_packets();
        is_wanted.then(|| self.sessions.peers.values().map(|peer| packets_of(&peer.connection)).collect())
    }

    /// Counts and logs the packets that the connections have made since [`begin_look`](Self::begin_look).
    pub(super) fn end_look(&mut self, before: Option<Vec<u64>>) {
        let Some(before) = before else { return };
        let Self { world, classes, sessions: ServerSessions { peers, .. }, traffic, .. } = self;
        let catalog = ServerCatalog { world, classes };
        let wants_packets = telemetry::wants_packets();
        for (peer, before) in peers.values().zip(before) {
            let connection = &peer.connection;
            let count = packets_of(connection).saturating_sub(before) as usize;
            for (sequence, body) in connection.link.written(count) {
                if let Some(traffic) = traffic {
                    look(connection, (sequence, body.clone()), &catalog, traffic);
                }
                if wants_packets {
                    let mut tree = Tree::default();
                    look(connection, (sequence, body), &catalog, &mut tree);
                    if !tree.is_empty() {
                        telemetry::packet(Some(connection.id()), sequence, &tree);
                    }
                }
            }
        }
    }
}

fn packets_of(connection: &Connection) -> u64 {
    connection.link.outbox.queue.packets_sent
}

/// Surveys a packet, and each large update whose first part it has.
fn look(
    connection: &Connection,
    (sequence, mut body): (Sequence, BitReader<'_>),
    catalog: &ServerCatalog<'_>,
    account: &mut impl Account,
) {
    let surveyed = survey(sequence, &mut body, catalog, account);
    debug_assert!(surveyed.is_ok(), "the server reads what it has written: {surveyed:?}");
    for part in surveyed.unwrap_or_default() {
        let whole = connection.copies.blobs.whole(part.head.blob).filter(|_| part.head.index == 0);
        if let Some(whole) = whole {
            let surveyed = survey(sequence, &mut whole.reader(), catalog, account);
            debug_assert!(surveyed.is_ok(), "the server reads what it has written: {surveyed:?}");
        }
    }
}

/// What a server knows of what it sends.
struct ServerCatalog<'a> {
    world: &'a World,
    classes: &'a ClassList,
}

impl Catalog for ServerCatalog<'_> {
    fn classes(&self) -> &ClassList {
        self.classes
    }

    fn program(&self, class: u16) -> Option<&Program> {
        Some(self.world.store.columns().nth(class.into())?.program())
    }

    fn archetypes(&self, class: u16) -> Option<u32> {
        Some(self.world.store.columns().nth(class.into())?.archetypes())
    }

    fn object(&self, slot: u32) -> Option<(Guid, u16)> {
        // Also of an object that was removed: its slot is not used again before all clients know that.
        let store = &self.world.store;
        let occupant = store.objects.get(slot as usize).map(|_| store.occupant(slot))?;
        Some((occupant.guid(slot), occupant.class))
    }

    fn name(&self, slot: u32) -> Option<&str> {
        self.world.name(slot)
    }
}
