//! Looks inside the packets that the server has made: counts their bits by class and property, and logs their
//! contents.
//!
//! *Invariant:* the server sends the same packets whether somebody looks at them or not.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use repl_core::{BitReader, BitWriter, Epoch, Guid, Program};
use repl_link::parts::{Sequence, ServerSessions};

use super::Server;
use super::connection::{Connection, Copies};
use super::world::World;
use crate::inspect::survey::{Catalog, survey};
use crate::inspect::traffic::{ClassTraffic, Traffic};
use crate::inspect::tree::Tree;
use crate::session::classes::ClassList;
use crate::telemetry;

impl Server {
    /// Returns how many bits the server has sent so far for each class and each property, as the sum over all
    /// clients. A value that is sent to several clients counts once for each client. A value that is sent
    /// again after a loss counts again. An update that is too large for a packet counts only once for each
    /// client. The slice is empty unless [`ServerConfig::measure`](crate::ServerConfig::measure) is set, and
    /// before the first [`connect`](Self::connect).
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

    /// Returns how many packets have been made for each connection so far, or `None` if nobody counts or logs
    /// packets.
    pub(super) fn begin_look(&self) -> Option<Vec<u64>> {
        let is_wanted = self.traffic.is_some() || telemetry::wants_packets();
        let packets =
            || self.sessions.peers.values().map(|peer| peer.connection.link.outbox.queue.packets_sent);
        is_wanted.then(|| packets().collect())
    }

    pub(super) fn end_look(&mut self, before: Option<Vec<u64>>) {
        let Some(before) = before else { return };
        let Self { world, classes, sessions: ServerSessions { peers, .. }, traffic, .. } = self;
        let wants_packets = telemetry::wants_packets();
        for (peer, before) in peers.values_mut().zip(before) {
            let id = peer.connection.id();
            let Connection { link, copies, .. } = &mut peer.connection;
            let made = link.outbox.queue.packets_sent.saturating_sub(before) as usize;
            for (sequence, body) in link.written(made) {
                if let Some(traffic) = traffic {
                    count((sequence, body.clone()), (world, classes), copies, traffic);
                }
                if wants_packets {
                    let (mut tree, catalog) = (Tree::default(), ServerCatalog { world, classes, copies });
                    tree.add(sequence, &mut body.clone(), &catalog);
                    if !tree.is_empty() {
                        telemetry::packet(Some(id), sequence, &tree);
                    }
                }
            }
        }
    }
}

/// Counts the contents of a packet. If the packet is the first one that has a part of a large update, also
/// counts the whole update. If a decoder of the user refuses the bits that the encoder wrote, the rest of the
/// packet is not counted.
fn count(
    (sequence, mut body): (Sequence, BitReader<'_>),
    (world, classes): (&World, &ClassList),
    copies: &mut Copies,
    traffic: &mut Traffic,
) {
    let parts = survey(sequence, &mut body, &ServerCatalog { world, classes, copies }, traffic);
    for part in parts.unwrap_or_default() {
        let Some(whole) = copies.blobs.count(part.head.blob) else { continue };
        let mut bits = BitWriter::new();
        bits.append(whole);
        survey(sequence, &mut bits.as_slice().reader(), &ServerCatalog { world, classes, copies }, traffic)
            .ok();
    }
}

struct ServerCatalog<'a> {
    world: &'a World,
    classes: &'a ClassList,
    copies: &'a Copies,
}

impl Catalog for ServerCatalog<'_> {
    fn classes(&self) -> &ClassList {
        self.classes
    }

    fn program(&self, class: u16) -> Option<&Program> {
        Some(self.world.store.get_column(class)?.program())
    }

    fn archetypes(&self, class: u16) -> Option<u32> {
        Some(self.world.store.get_column(class)?.archetypes())
    }

    fn object(&self, slot: u32) -> Option<(Guid, u16)> {
        // The slot may belong to a removed object. Its occupant is still correct, because the slot is not
        // used again before all clients know of the removal.
        if !self.copies.uses(slot) {
            return None;
        }
        let occupant = self.world.store.occupant(slot);
        Some((occupant.guid(slot), occupant.class))
    }

    fn name(&self, slot: u32) -> Option<&str> {
        self.world.name(slot)
    }

    fn epoch(&self) -> Epoch {
        Epoch::default()
    }
}
